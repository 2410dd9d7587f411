#!/bin/sh
# What keyframes are good for: of one made-up recording with more and more rundowns in its middle, more frames have a name
# (docs/recording.md has these figures), and every count is as the truth has it.
. tests/e2e/lib.sh

gen=${RD_BUILD:-build/release}/tests/gen/gen_trace

# recorded KEYFRAMES OPTIONS...: "SAMPLES FRAMES UNRESOLVED AMBIGUOUS" of the trace's report in $told; what differs from the truth fails.
recorded()
{
	keyframes=$1
	shift
	"$gen" --size 1M --seed 5 --lost 0 --keyframes "$keyframes" "$@" -o "$scratch/t" --truth "$scratch/t.json"
	"$bin/rundown" run "$scratch/t" -o "$scratch/r" --force --shards 5 --workers 2 -q 2>"$scratch/err"
	"$bin/rundown" report "$scratch/r" --format json -o "$scratch/report.json"
	told=$(jq -r '"\(.samples) \(.trust.frames) \(.trust.unresolved_frames) \(.trust.ambiguous_frames)"' "$scratch/report.json")
	jq -rn --slurpfile a "$scratch/t.json" --slurpfile r "$scratch/report.json" -f tests/e2e/compare.jq >"$scratch/differ" 2>&1 ||
		echo "no comparison" >>"$scratch/differ"
	check_empty "$* with $keyframes keyframes is as the truth has it" "$scratch/differ"
}

# 3 of 10 loads and unloads are missing, and so are lines of what other rundowns there are; keyframes are whole.
part=1000001 first=0
for keyframes in 0 3 10 30 100; do
	recorded $keyframes --format nettrace4 --untold 300
	# shellcheck disable=SC2086
	set -- $told
	now=$(($3 * 1000000 / $2))
	[ "$now" -lt "$part" ] && ok "$keyframes keyframes: $3 of $2 frames have no name, $4 are ambiguous: fewer" ||
		not_ok "$keyframes keyframes: $3 of $2 frames have no name: not fewer"
	[ $keyframes -gt 0 ] || first=$4
	part=$now
done
[ "$4" -lt $((first / 2)) ] && ok "$first ambiguous frames without, $4 with 100 keyframes" || not_ok "ambiguous frames: $first and $4"

recorded 0 --format etl --untold 300
# shellcheck disable=SC2086
set -- $told
without=$(($3 * 1000000 / $2))
recorded 30 --format etl --untold 300
# shellcheck disable=SC2086
set -- $told
[ $(($3 * 1000000 / $2)) -lt $without ] && ok "etl: fewer frames without a name" || not_ok "etl: fewer frames without a name"
# What inspect says of them, in a recording of thirteen seconds.
"$gen" --size 1M --seed 5 --sound --keyframes 3 --processes 0 --format etl --clock system --slots 8000000 -o "$scratch/t"
"$bin/rundown" inspect "$scratch/t" --format json >"$scratch/inspect.json"
is "inspect: the distance is that of the keyframes it lists" true "$(jq -c '[.keyframes[].at_ns] as $at |
	[range(1; $at | length) as $i | $at[$i] - $at[$i - 1] | if . < 0 then -. else . end] as $apart |
	($apart | length) > 1 and .keyframe_spacing == {least_ns: ($apart | min), most_ns: ($apart | max)}' "$scratch/inspect.json")"
"$bin/rundown" inspect "$scratch/t" | grep -q '^keyframes .* in the middle; .* to .* from one to the next$' &&
	ok "inspect: text tells the distance" || not_ok "inspect: text tells the distance"
"$bin/rundown" inspect tests/traces/shop-small.nettrace.zst --format json >"$scratch/inspect.json"
is "inspect: one keyframe has no distance" null "$(jq -c .keyframe_spacing "$scratch/inspect.json")"
plan
