#!/bin/sh
# Traces of more than 4 GiB, with a hole in their middle; and many stacks, in bounded memory. With RD_LARGE=full
# (make check-large) also those whose middle must be read, a million stacks, and more than 20 million samples.
. tests/e2e/lib.sh

gen=${RD_BUILD:-build/release}/tests/gen/gen_large
r=$scratch/r
mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp
export TMPDIR

# peaks: of each kind of process that runs with our TMPDIR, the most memory that one had, in KiB, until $1 ends.
peaks()
{
	while kill -0 "$1" 2>/dev/null; do
		for p in /proc/[0-9]*; do
			case $(cat "$p/comm" 2>/dev/null) in
			rundown*) { tr '\0' '\n' <"$p/environ"; } 2>/dev/null | grep -qx "TMPDIR=$TMPDIR" &&
				awk '/^Name:/ { name = $2 } /^VmHWM:/ { print name, $2 }' "$p/status" 2>/dev/null ;;
			esac
		done
		sleep 0.02
	done | awk '$2 > most[$1] { most[$1] = $2 } END { for (name in most) print name, most[name] }'
}

# past_4_gib NAME: five samples, two before the middle and three behind it; and a cut behind the middle.
past_4_gib()
{
	trace=$scratch/$1.trace
	"$gen" "$1" "$trace" || return
	size=$(wc -c <"$trace" | tr -d ' ')
	"$bin/rundown" run "$trace" -o "$r" --force -q 2>"$scratch/err"
	is "row_37_offsets_past_4_gib: $1" "0 [5,$size,true,null]" "$? $("$bin/rundown" report "$r" --format json |
		jq -c '[.samples, .traces[0].bytes, .traces[0].complete, .trust.cut_at]')"
	is "row_37_offsets_past_4_gib: $1: inspect" "[5,$size,true]" "$("$bin/rundown" inspect "$trace" --format json |
		jq -c '[.samples, .bytes, .complete]')"
	truncate -s -8 "$trace"
	"$bin/rundown" run "$trace" -o "$r" --force -q 2>"$scratch/err"
	is "row_37_offsets_past_4_gib: $1, cut there" "3 [2,true]" "$? $("$bin/rundown" report "$r" --format json |
		jq -c '[.samples, .trust.cut_at > 4294967296]')"
	rm "$trace"
}

# stacks N KIB: N samples with N stacks; no process takes more than so much.
stacks()
{
	"$gen" stacks "$scratch/stacks" "$1"
	"$bin/rundown" run "$scratch/stacks" -o "$r" --force -q 2>"$scratch/err" &
	peaks $! >"$scratch/peaks"
	wait $!
	is "row_36_many_stacks_in_bounded_memory: $1" "0 [$1,1000,0]" "$? $("$bin/rundown" report "$r" --format json |
		jq -c '[.samples, (.methods | length), .trust.unresolved_frames]')"
	is "row_36_many_stacks_in_bounded_memory: $1 in folded" "$1" \
		"$("$bin/rundown" report "$r" --format folded | wc -l | tr -d ' ')"
	is "row_36_many_stacks_in_bounded_memory: all were watched" 1 \
		"$(grep -c rundown-parser "$scratch/peaks")"
	awk -v most="$2" '$2 > most { print $1 " took " $2 " KiB of " most }' "$scratch/peaks" >"$scratch/wrong"
	check_empty "row_36_many_stacks_in_bounded_memory: $(sort "$scratch/peaks" | tr '\n' ' ')" "$scratch/wrong"
}

# Where it may take less than it needs, one line says so, and what was there already stays.
refuses()
{
	"$bin/rundown" report "$r" --digest >"$scratch/before"
	"$bin/rundown" run "$scratch/stacks" -o "$r" --force -q --finish-memory 32M >"$scratch/out" 2>"$scratch/err"
	is "row_36_too_many_stacks_are_refused" "1 1 1" \
		"$? $(wc -l <"$scratch/err" | tr -d ' ') $(grep -c 'needs more than .* of memory' "$scratch/err")"
	is "row_36_too_many_stacks_are_refused: the old result stays" "$(cat "$scratch/before")" \
		"$("$bin/rundown" report "$r" --digest)"
}

sanitized=$(ldd "$bin/rundown" 2>/dev/null | grep -c 'libasan\|libubsan')
for name in nettrace nettrace6; do
	past_4_gib $name
done
if [ "$sanitized" -ne 0 ]; then
	skip "row_36_many_stacks_in_bounded_memory" "sanitizers take memory of their own"
elif [ "${RD_LARGE:-}" != full ]; then
	stacks 200000 160000
	refuses
else
	stacks 1000000 450000
	refuses
	for name in etl netperf; do
		past_4_gib $name
	done
	"$gen" samples "$scratch/samples" 25000000
	"$bin/rundown" run "$scratch/samples" -o "$r" --force -q
	is "row_37_no_cap_of_20_million_events" "0 [25000000,0]" "$? $("$bin/rundown" report "$r" --format json |
		jq -c '[.samples, .trust.lost_events]')"
fi

plan
