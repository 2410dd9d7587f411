#!/bin/sh
# What travels is small, and a result says what its work was made of.
. tests/e2e/lib.sh

gen=${RD_BUILD:-build/release}/tests/gen/gen_trace

# work TRACE SHARDS: the object "work" of its result, in $scratch/work.
work()
{
	"$bin/rundown" run "$1" -o "$scratch/r" --force --shards "$2" --stats >/dev/null 2>"$scratch/err" || cat "$scratch/err" >&2
	"$bin/rundown" report "$scratch/r" --stats --format json | jq .work >"$scratch/work"
}

# holds NAME FILTER: true of $scratch/work.
holds()
{
	if jq -e "$2" "$scratch/work" >/dev/null; then ok "$1"; else not_ok "$1" "$scratch/work"; fi
}

# A sample and a stack record: 16 bytes, with their stacks and the histograms; facts and names come on top.
small_etl()
{
	holds "$1: at most 16 bytes a sample and a stack record" \
		'.partial_bytes - .bytes_of.facts - .bytes_of.names <= 16 * (.samples + .stack_records)'
	holds "$1: the parts are the whole" '(.bytes_of | add) == .partial_bytes and .samples > 0 and .stack_records > 0'
}

# ---- sizes

large=$shared/traces/own/shop-large.nettrace.zst
if [ -f "$large" ]; then
	zstd -dqc "$large" >"$scratch/shop-large.nettrace"
	work "$scratch/shop-large.nettrace" 50
	holds "shop-large in 50 shards: at most 5 % of its bytes" \
		'.shards == 50 and .partial_bytes * 20 <= .trace_bytes and .trace_bytes == 157735514'
	rm "$scratch/shop-large.nettrace"
else
	skip "shop-large in 50 shards" "no shared traces beside the checkout"
fi
zip=$shared/traces/perfview/net.4.5.2.x64.etl.zip
if [ -f "$zip" ]; then
	unzip -q -p "$zip" >"$scratch/net.etl" net.4.5.2.x64.etl 2>/dev/null
	work "$scratch/net.etl" 50
	small_etl "net.4.5.2 in 50 shards"
else
	skip "net.4.5.2 in 50 shards" "no shared traces beside the checkout"
fi
"$gen" --size 32M --seed 3 --format etl -o "$scratch/made.etl"
work "$scratch/made.etl" 8
small_etl "a made ETL in shards of 5 MB"
rm "$scratch/made.etl"

# ---- the words

# Its methods have their names at the end only.
zstd -dqc tests/traces/shop-verbose.nettrace.zst >"$scratch/shop.nettrace"
work "$scratch/shop.nettrace" 1
holds "one shard believes nearly what is" \
	'.shards == 1 and .preliminary_samples > 0 and .preliminary_changed * 20 <= .preliminary_samples'
work "$scratch/shop.nettrace" 7
holds "of seven, some do not know the names" \
	'.shards == 7 and .preliminary_changed * 2 > .preliminary_samples and .preliminary_changed <= .preliminary_samples'
holds "time and memory" '.finish_ns > 0 and .merge_ns > 0 and .finish_peak_bytes > 1000000 and .merge_peak_bytes > 1000000'
"$bin/rundown" report "$scratch/r" --stats >"$scratch/out"
is "report --stats: text" "work: 7 shards; 1 1 1" "$(grep -o '^work: 7 shards;' "$scratch/out") $(
	grep -c 'facts .*, their names .* stacks .* samples and 0 stack records .*, preliminary histograms' "$scratch/out") $(
	grep -c 'reconciliation changed the method of .* samples of the .* that shards spoke for, .* %' "$scratch/out") $(
	grep -c 'merge .* in .*, finish .* in .* of memory' "$scratch/out")"
"$bin/rundown" report "$scratch/r" --format json | jq -e 'has("work") | not' >/dev/null
is "only where it is asked for" 0 $?
"$bin/rundown" run "$scratch/shop.nettrace" -o "$scratch/r" --force --stats >"$scratch/out" 2>"$scratch/err"
is "run --stats" 1 "$(grep -c '^work: ' "$scratch/out")"
# A filter leaves nothing to compare with.
"$bin/rundown" run "$scratch/shop.nettrace" -o "$scratch/r" --force --to 1 --stats >"$scratch/out" 2>"$scratch/err"
is "a filtered run says nothing of reconciliation" "1 0" \
	"$(grep -c '^work: ' "$scratch/out") $(grep -c reconciliation "$scratch/out")"
for format in csv folded; do
	"$bin/rundown" report "$scratch/r" --stats --format $format >"$scratch/out" 2>"$scratch/err"
	is "--stats with $format" "2 1" "$? $(grep -c "stats does not go with --format $format" "$scratch/err")"
done
plan
