#!/bin/sh
# What the generator writes: equal bytes for equal options, every event counted by inspect, every sample by run as the
# truth has it, in every format, pointer size, compression and clock (docs/generator.md).
. tests/e2e/lib.sh

gen=${RD_BUILD:-build/release}/tests/gen/gen_trace

# differ REPORT [events]
differ()
{
	jq -rn --slurpfile a "$scratch/t.json" --slurpfile r "$1" ${2:+--arg events 1} -f tests/e2e/compare.jq \
		>>"$scratch/differ" 2>&1 || echo "no comparison" >>"$scratch/differ"
}

# one_trace NAME SHARDS OPTIONS...
one_trace()
{
	name=$1 shards=$2
	shift 2
	: >"$scratch/differ"
	"$gen" "$@" -o "$scratch/t" --truth "$scratch/t.json" 2>>"$scratch/differ" || echo "no trace" >>"$scratch/differ"
	"$bin/rundown" inspect "$scratch/t" --format json >"$scratch/inspect.json" 2>>"$scratch/differ"
	differ "$scratch/inspect.json" events
	"$bin/rundown" run "$scratch/t" -o "$scratch/r" --force --shards "$shards" --workers 2 -q 2>>"$scratch/differ"
	"$bin/rundown" report "$scratch/r" --format json -o "$scratch/report.json" 2>>"$scratch/differ"
	differ "$scratch/report.json"
	check_empty "$name" "$scratch/differ"
}

some="--samples 3000 --lives 600 --noise 3000 --size 1M"
# Word by word.
# shellcheck disable=SC2086
for pointer in 8 4; do
	for compress in none lznt1 xpress huffman; do
		one_trace "etl, $compress, pointers of $pointer bytes" 7 --format etl --pointer $pointer \
			--compress $compress --seed 11 $some
	done
	for format in nettrace4 nettrace5 nettrace6; do
		one_trace "$format, pointers of $pointer bytes" 7 --format $format --pointer $pointer --seed 12 $some
	done
done
for clock in system cycles; do
	# shellcheck disable=SC2086
	one_trace "etl, clock $clock" 3 --format etl --clock $clock --seed 13 $some
done
one_trace "etl, a sound one of several acts" 20 --format etl --sound --seed 14 --size 40M
one_trace "nettrace, a sound one of several acts" 20 --format nettrace4 --sound --seed 15 --size 40M

# Equal bytes, equal truth; another seed gives another trace.
"$gen" --small --seed 3 -o "$scratch/a" --truth "$scratch/a.json"
"$gen" --small --seed 3 -o "$scratch/b" --truth "$scratch/b.json"
"$gen" --small --seed 4 -o "$scratch/c"
cmp "$scratch/a" "$scratch/b" >"$scratch/differ" 2>&1
cmp "$scratch/a.json" "$scratch/b.json" >>"$scratch/differ" 2>&1
check_empty "a seed is a trace" "$scratch/differ"
cmp -s "$scratch/a" "$scratch/c"
is "another seed is another" 1 $?
"$gen" --small 2>/dev/null
is "wrong usage" 2 $?
"$gen" --small --lanes 5000 -o "$scratch/c" 2>"$scratch/err"
is "more lanes of memory than there are" "2 gen_trace: --lanes: at most 4096" "$? $(cat "$scratch/err")"
plan
