#!/bin/sh
# rundown top: results side by side, held against their reports.
. tests/e2e/lib.sh

nights=$scratch/nights
mkdir "$nights"
for name in shop-small shop-verbose; do
	"$bin/rundown" run tests/traces/$name.nettrace.zst -o "$nights/$name.rundown" -q >"$scratch/out" 2>&1
done
top()
{
	what=$1 wanted=$2
	shift 2
	"$bin/rundown" top "$@" >"$scratch/out" 2>"$scratch/err"
	is "$what: exit code" "$wanted" $?
}
# of RESULT COUNT: by names, what a report of it counts.
of()
{
	"$bin/rundown" report "$1" --format json | jq -c --arg count "$2" '[.methods[] | {k: [.module, .namespace, .name, .signature], n: .[$count]}] |
		group_by(.k) | map({k: .[0].k, n: (map(.n) | add)}) | map(select(.n > 0)) | sort'
}

top "a folder" 0 --by result "$nights" --format json
mv "$scratch/out" "$scratch/top"
is "results, the earliest first" "shop-small shop-verbose" "$(jq -r '[.results[].path | sub(".*/"; "") | sub(".rundown"; "")] | join(" ")' "$scratch/top")"
at=0
for name in shop-small shop-verbose; do
	is "$name: samples" "$("$bin/rundown" report "$nights/$name.rundown" --format json | jq .samples)" "$(jq ".results[$at].samples" "$scratch/top")"
	for count in exclusive inclusive; do
		of "$nights/$name.rundown" $count >"$scratch/wanted"
		jq -c --argjson at $at --arg count $count '[.methods[] | {k: [.module, .namespace, .name, .signature], n: .[$count][$at]}] |
			map(select(.n > 0)) | sort' "$scratch/top" >"$scratch/got"
		cmp -s "$scratch/wanted" "$scratch/got" && [ "$(jq length "$scratch/got")" -gt 100 ] && ok "$name: $count" || not_ok "$name: $count"
	done
	at=$((at + 1))
done
is "the largest shares first" true "$(jq -c '.results as $r | [.methods[] | .exclusive[0] / $r[0].samples + .exclusive[1] / $r[1].samples] |
	. == (sort | reverse)' "$scratch/top")"
top "csv" 0 "$nights" --format csv
is "csv: a line a result and method" "$(jq '[.methods[] | .inclusive[] | select(. > 0)] | length' "$scratch/top")" "$(($(wc -l <"$scratch/out") - 1))"
is "csv: every line ends in CRLF" 0 "$(grep -vc "$(printf '\r')\$" "$scratch/out")"
top "text" 0 "$nights" --top 3
is "text: lines" 9 "$(wc -l <"$scratch/out" | tr -d ' ')"
is "text: says how many" 1 "$(grep -c '^3 of [0-9,]* rows; percentages are of each result.s samples, exclusive$' "$scratch/out")"
top "by name, inclusive" 0 "$nights/shop-verbose.rundown" "$nights/shop-small.rundown" --count inclusive --group module --format json
is "by name: order of begin" "shop-small" "$(jq -r '.results[0].path | sub(".*/"; "") | sub(".rundown"; "")' "$scratch/out")"
is "by module: as a report groups" "$("$bin/rundown" report "$nights/shop-small.rundown" --group module --format json | jq -c '[.methods[] | select(.module == "shop") | .inclusive]')" \
	"$(jq -c '[.methods[] | select(.module == "shop") | .inclusive[0]]' "$scratch/out")"

# ---- all in one report

"$bin/rundown" report "$nights"/*.rundown --format json >"$scratch/all" 2>"$scratch/err"
is "one report of both: exit code" 0 $?
"$bin/rundown" run tests/traces/shop-small.nettrace.zst tests/traces/shop-verbose.nettrace.zst -o "$scratch/both" -q >"$scratch/out" 2>&1
counts='[.samples, .kinds, (.traces | length), (.processes | map([.trace, .pid, .samples])), (.methods | map([.process, .module, .namespace, .name, .exclusive, .inclusive]) | sort)]'
is "one report of both: as of one run with both" "$("$bin/rundown" report "$scratch/both" --format json | jq -c "$counts" | cksum)" \
	"$(jq -c "$counts" "$scratch/all" | cksum)"
samples=$(jq .samples "$scratch/all")
is "one report of both: folded" "$samples" "$("$bin/rundown" report "$nights"/*.rundown --format folded | awk '{ n += $NF } END { print n }')"
is "one report of both: speedscope" "$samples" "$("$bin/rundown" report "$nights"/*.rundown --format speedscope | jq '[.profiles[].weights[]] | add')"
for form in csv pprof html sqlite prom; do
	"$bin/rundown" report "$nights"/*.rundown --format $form -o "$scratch/form" 2>"$scratch/err"
	is "one report of both: $form" 0 $?
done
is "one report of both: a trace by its number" "$("$bin/rundown" report "$nights/shop-verbose.rundown" --format json | jq .samples)" \
	"$("$bin/rundown" report "$nights"/*.rundown --trace 2 --format json | jq .samples)"
"$bin/rundown" report "$nights/shop-small.rundown" "$nights/shop-small.rundown" >"$scratch/out" 2>"$scratch/err"
is "the same result twice" "1 1" "$? $(grep -c 'is that of a result before it' "$scratch/err")"
"$bin/rundown" run tests/traces/shop-verbose.nettrace.zst --kind managed -o "$scratch/filtered" -q >"$scratch/out" 2>&1
"$bin/rundown" report "$nights/shop-small.rundown" "$scratch/filtered" >"$scratch/out" 2>"$scratch/err"
is "results of other filters" "1 1" "$? $(grep -c 'another filter' "$scratch/err")"
for option in --digest --stats "--from 1" "--to 1"; do
	"$bin/rundown" report "$nights"/*.rundown $option >"$scratch/out" 2>"$scratch/err"
	is "${option% 1} of several" 2 $?
done

# ---- a process that one of them has not; results that are none

"$bin/rundown" run tests/traces/site-crashed.nettrace.zst -o "$nights/site.rundown" -q >"$scratch/out" 2>&1
top "an incomplete one" 3 "$nights" --format json
top "a process that one has not" 3 "$nights" --process shop --format json
is "a process that one has not: no samples there" "[true,true,false]" "$(jq -c '[.results[].samples > 0]' "$scratch/out")"
top "a process that none has" 1 "$nights" --process nosuch
is "a process that none has: one line" 1 "$(wc -l <"$scratch/err" | tr -d ' ')"
cp -r "$nights/site.rundown" "$nights/torn.rundown"
printf x | dd of="$nights/torn.rundown/data.mdb" bs=1 seek=5000 conv=notrunc 2>/dev/null
top "a damaged one of a folder" 3 "$nights" --format json
is "a damaged one of a folder: told, the others are there" "1 3" "$(grep -c 'torn.rundown is left out: ' "$scratch/err") $(jq '.results | length' "$scratch/out")"
top "a damaged one by name" 1 "$nights/torn.rundown"
top "a folder without a result" 1 tests/traces
is "a folder without a result: says so" 1 "$(grep -c 'neither a result nor a folder with one' "$scratch/err")"
top "nothing there" 1 "$nights/none"
plan
