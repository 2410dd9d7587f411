#!/bin/sh
# The kinds of fault that users report of such tools, on small made traces, from `run` to the report. A case is
# called after its row in tests/README.md.
. tests/e2e/lib.sh

gen=${RD_BUILD:-build/release}/tests/gen/gen_rows
mkdir "$scratch/t"
"$gen" "$scratch/t" || exit 1
r=$scratch/r

# run TRACE...: exit code in $status, the report in $scratch/json.
run()
{
	rm -rf "$r"
	again "$@"
}

# The same without taking the old result away.
again()
{
	"$bin/rundown" run "$@" -o "$r" -q >"$scratch/out" 2>"$scratch/err"
	status=$?
	"$bin/rundown" report "$r" --format json >"$scratch/json" 2>/dev/null
}

# says FILTER: what jq says of the report, on one line.
says()
{
	jq -c "$1" "$scratch/json"
}

# inspected TRACE FILTER
inspected()
{
	"$bin/rundown" inspect "$1" --format json 2>/dev/null | jq -c "$2"
}

# refused NAME TRACE: exit code 1 and one line, of run and of inspect; no result.
refused()
{
	run "$2"
	is "$1: run's exit code" 1 $status
	is "$1: one line, no result" "1 " "$(wc -l <"$scratch/err" | tr -d ' ') $(ls -d "$r" 2>/dev/null)"
	"$bin/rundown" inspect "$2" >"$scratch/out" 2>"$scratch/err"
	is "$1: inspect's exit code" 1 $?
	is "$1: inspect says why" "1 0" "$(wc -l <"$scratch/err" | tr -d ' ') $(wc -c <"$scratch/out" | tr -d ' ')"
}

methods='[.samples, (.methods | map([.pid, .module, .name, .exclusive, .inclusive]))]'
second=$(wc -c <"$scratch/t/01-block-edge.nettrace" | tr -d ' ')

# ---- 1: the target crashed

size=$(wc -c <"$scratch/t/01-no-end.nettrace" | tr -d ' ')
for cut in "no-end 5 $size" "block-edge 3 $second" "inside-block 3 $second" "inside-number 3 $second"; do
	set -- $cut
	name="row_01_whole_blocks_are_kept: $1"
	run "$scratch/t/01-$1.nettrace"
	is "$name" "3 [$2,false,$3,false,$3,\"none\"]" "$status $(says \
		'[.samples, .trust.complete, .trust.cut_at, .traces[0].complete, .traces[0].cut_at, .trust.rundown]')"
	is "$name: inspect" "[$2,false,$3]" "$(inspected "$scratch/t/01-$1.nettrace" '[.samples, .complete, .cut_at]')"
done

# ---- 2: starts in mid-stream; bad block lengths

zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/shop.nettrace"
zstd -dcq tests/traces/linux-cpu-v6.nettrace.zst >"$scratch/six.nettrace"
for name in shop six; do
	tail -c +4097 "$scratch/$name.nettrace" >"$scratch/$name.rest"
	refused "row_02_a_missing_start_is_refused: $name" "$scratch/$name.rest"
done
for size in 0 most negative; do
	run "$scratch/t/02-size-$size.nettrace"
	is "row_02_what_came_before_a_bad_block: $size" "3 [3,false,$second]" \
		"$status $(says '[.samples, .trust.complete, .trust.cut_at]')"
done

# ---- 3: ETLs that are none

for name in nothing 71 72 zeroed; do
	refused "row_03_no_etl_is_refused: $name" "$scratch/t/03-$name.etl"
done
run "$scratch/t/03-first-buffer.etl"
is "row_03_a_header_alone_is_an_empty_trace" "3 [0,false,1024]" \
	"$status $(says '[.samples, .trust.complete, .trust.cut_at]')"

# ---- 4: a trace that grows

cp "$scratch/shop.nettrace" "$scratch/whole.nettrace"
run "$scratch/whole.nettrace"
whole="$status $(says "$methods") $("$bin/rundown" report "$r" --digest)"
mv "$scratch/whole.nettrace" "$scratch/grows.whole"
head -c $(($(wc -c <"$scratch/grows.whole") * 6 / 10)) "$scratch/grows.whole" >"$scratch/whole.nettrace"
run "$scratch/whole.nettrace"
is "row_04_the_later_replaces: what is there is read" "3 true" \
	"$status $(says '.samples > 0 and .trust.complete == false')"
cp "$scratch/grows.whole" "$scratch/whole.nettrace"
again "$scratch/whole.nettrace"
is "row_04_the_later_replaces: not by itself" 1 $status
again "$scratch/whole.nettrace" --force
is "row_04_the_later_replaces: and never adds" "$whole" \
	"$status $(says "$methods") $("$bin/rundown" report "$r" --digest)"

# ---- 5: lost events

# Two gaps of 2^31 - 2, two numbers at the wrap, five that only the sequence point knows.
lost=4294967299
run "$scratch/t/05-lost.nettrace"
is "row_05_lost_events_are_64_bit: json" "0 [$lost,$lost]" \
	"$status $(says '[.trust.lost_events, .traces[0].lost_events]')"
is "row_05_lost_events_are_64_bit: text" 1 \
	"$("$bin/rundown" report "$r" | grep -c '4,294,967,299 .*lost\|lost.* 4,294,967,299')"
is "row_05_lost_events_are_64_bit: inspect" $lost "$(inspected "$scratch/t/05-lost.nettrace" .lost_events)"
"$bin/rundown" run "$scratch/t/05-lost.nettrace" -o "$r" --force 2>/dev/null | grep '^trust: ' >"$scratch/out"
is "row_05_lost_events_are_64_bit: run" 1 "$(grep -c '4,294,967,299' "$scratch/out")"
run "$scratch/t/05-lost.nettrace" --strict
is "row_05_lost_events_are_64_bit: --strict" 3 $status
run "$scratch/t/05-removal.nettrace"
is "row_05_the_last_number_of_a_removed_thread" "0 7" "$status $(says .trust.lost_events)"

# ---- 6: sessions overflow apart

for how in --no-join --join; do
	run "$scratch/t/06-overflowed.etl" "$scratch/t/06-whole.etl" $how
	is "row_06_losses_of_each_session: $how" "0 [[7000,3],[0,0]] [7000,3]" \
		"$status $(says '.traces | map([.lost_events, .lost_buffers])') $(says '.trust | [.lost_events, .lost_buffers]')"
done

# ---- 13 and 14: rundowns that are not there, or not whole

run "$scratch/t/13-no-rundown.nettrace"
is "row_13_no_rundown_is_told" '0 ["none",["Microsoft-Windows-DotNETRuntimeRundown"]]' \
	"$status $(says '[.trust.rundown, .trust.missing_providers]')"
is "row_13_no_rundown_is_told: text" 1 \
	"$("$bin/rundown" report "$r" | grep -c 'Microsoft-Windows-DotNETRuntimeRundown')"
run "$scratch/t/14-cut-short.nettrace"
is "row_14_a_rundown_cut_short_is_partial" '0 ["partial",[]]' \
	"$status $(says '[.trust.rundown, .trust.missing_providers]')"
run "$scratch/t/14-whole.nettrace"
is "row_14_a_whole_rundown_is_complete" '0 "complete"' "$status $(says '.trust.rundown')"

# ---- 15: method events with a wrong layout

run "$scratch/t/15-wrong-layout.nettrace"
is "row_15_a_wrong_layout_is_counted" '0 [2,2,1,[["?",1],["Fib",1]]]' \
	"$status $(says '[.samples, .trust.malformed_events, .trust.unresolved_frames,
		(.methods | map([.name, .exclusive]) | sort)]')"

# ---- 21: containers

run "$scratch/t/21-containers.nettrace"
is "row_21_container_pids_are_kept" '[[500,1,"shop",3],[600,1,"site",2],[700,700,"init",1]]' \
	"$(says '.processes | map([.pid, .namespace_pid, .name, .samples]) | sort')"
for pid in 1:5 500:3 600:2 shop:3; do
	is "row_21_either_pid_filters: report --process ${pid%:*}" "${pid#*:}" \
		"$("$bin/rundown" report "$r" --process "${pid%:*}" --format json | jq .samples)"
done
for pid in 1:5 600:2; do
	run "$scratch/t/21-containers.nettrace" --process "${pid%:*}"
	is "row_21_either_pid_filters: run --process ${pid%:*}" "0 ${pid#*:}" "$status $(says .samples)"
done

# ---- 30: three clocks

for clock in qpc system cycles; do
	run "$scratch/t/30-$clock.etl"
	says '[.traces[0].start, .buckets, .samples]' >"$scratch/$clock.times"
	is "row_30_the_headers_clock_counts: $clock" '0 ["2024-01-01T00:00:00Z",true]' \
		"$status $(says '[.traces[0].start, (.traces[0].duration_ns - 5500000000 | fabs) < 2000000]')"
done
is "row_30_the_headers_clock_counts: the same buckets" 1 "$(cat "$scratch/"*.times | sort -u | wc -l | tr -d ' ')"

# ---- 32 to 34: ETLs without what merging adds, compressed, wrapped

run "$scratch/t/06-whole.etl"
whole="$status $(says "$methods")"
is "row_32_unmerged_etls_lack_nothing: named" '0 [10,[[7,"","Fib",8,8],[7,"shop.exe","?",2,10]]]' "$whole"
for name in 32-merged 33-lznt1 33-xpress 33-xpress-huffman 34-circular 34-wrapped; do
	case $name in
	32*) row=row_32_unmerged_etls_lack_nothing ;;
	33*) row=row_33_compressed_etls_are_read ;;
	34*) row=row_34_wrapped_files_are_put_in_order ;;
	esac
	run "$scratch/t/$name.etl"
	is "$row: $name" "$whole" "$status $(says "$methods")"
done
run "$scratch/t/34-no-starts.etl"
is "row_34_missing_starts_are_tolerated" '0 [10,[[7,"","?",10,10]]]' "$status $(says "$methods")"

plan
