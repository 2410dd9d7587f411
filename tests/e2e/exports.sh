#!/bin/sh
# The forms of a report that other programs read: each counts what the JSON counts, by the reader it is made for.
. tests/e2e/lib.sh

# The published schema, as the npm package speedscope brings it (`npm ci` in page/).
schema=${RD_SPEEDSCOPE:-page/node_modules/speedscope}/dist/release/file-format-schema.json
go=$(command -v go) && "$go" tool pprof -h >/dev/null 2>&1 || go=

# written FORM: the report of $r into $scratch/FORM; whatever the trace lacks is said elsewhere.
written()
{
	form=$1
	shift
	rm -f "$scratch/$form"
	"$bin/rundown" report "$r" --format "$form" "$@" -o "$scratch/$form" 2>/dev/null
	[ -s "$scratch/$form" ]
}

# by_label: of the JSON, a line for each label: exclusive, inclusive, label; "?" of two processes are one label.
# Inclusive counts of one label can be added up because a sample is of one process and one runtime.
by_label()
{
	jq -r "$called"' .methods[] | [.exclusive, .inclusive, called] | join("\t")' "$scratch/json" |
		awk -F'\t' '{ e[$3] += $1; i[$3] += $2 } END { for (l in e) print e[l] "\t" i[l] "\t" l }' | LC_ALL=C sort
}

pprof_top()
{
	PPROF_TMPDIR=$scratch "$go" tool pprof -top -nodecount=100000000 -nodefraction=0 -edgefraction=0 "$scratch/pprof" 2>/dev/null |
		sed '1,/flat%/d' | sed -E 's/^ *([0-9]+) +[0-9.]+% +[0-9.]+% +([0-9]+) +[0-9.]+%  /\1\t\2\t/' |
		sed -E -e 's/^ *0 +0% +[0-9.]+% +([0-9]+) +[0-9.]+%  /0\t\1\t/' -e 's/ \(inline\)$//' | LC_ALL=C sort
}

check_pprof()
{
	written pprof || not_ok "$1: pprof"
	gzip -t "$scratch/pprof" && ok "$1: pprof is a gzip" || not_ok "$1: pprof is a gzip"
	if [ -z "$go" ]; then
		skip "$1: go tool pprof counts the same" "no go"
		return
	fi
	by_label >"$scratch/wanted"
	pprof_top >"$scratch/got"
	diff "$scratch/wanted" "$scratch/got" >"$scratch/differ"
	check_empty "$1: go tool pprof counts the same" "$scratch/differ"
	[ -s "$scratch/got" ] && ok "$1: go tool pprof counts something" || not_ok "$1: go tool pprof counts something"
}

check_speedscope()
{
	written speedscope || not_ok "$1: speedscope"
	is "$1: speedscope has the samples" "$samples" "$(jq '[.profiles[].weights[]] | add' "$scratch/speedscope")"
	is "$1: speedscope: a weight a stack, and all of each profile" true "$(jq -c '.profiles | all(
		.type == "sampled" and (.samples | length) == (.weights | length) and (.weights | add) == .endValue and
		(.weights | all(. == floor)))' "$scratch/speedscope")"
	is "$1: speedscope names every frame" true \
		"$(jq -c '(.shared.frames | length) as $n | .profiles | all(.samples | all(all(. < $n)))' "$scratch/speedscope")"
	is "$1: speedscope: innermost frames are exclusive counts" "$(jq -c '[.methods[] | .exclusive | select(. > 0)] | sort' "$scratch/json")" \
		"$(jq -c '[.profiles[] | [.samples, .weights] | transpose[] | {f: .[0][-1], w: .[1]}] | group_by(.f) | map(map(.w) | add) | sort' "$scratch/speedscope")"
	if ! [ -r "$schema" ] || ! python3 -c 'import jsonschema' 2>/dev/null; then
		skip "$1: speedscope fits its schema" "no schema of speedscope, or no jsonschema of Python"
		return
	fi
	python3 -c 'import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[2])), json.load(open(sys.argv[1])))' "$schema" "$scratch/speedscope" >"$scratch/differ" 2>&1
	check_empty "$1: speedscope fits its schema" "$scratch/differ"
}

sql()
{
	sqlite3 "$scratch/sqlite" "$1" 2>&1
}

check_sqlite()
{
	written sqlite || not_ok "$1: sqlite"
	if ! command -v sqlite3 >/dev/null; then
		skip "$1: sqlite counts the same" "no sqlite3"
		return
	fi
	is "$1: sqlite is whole" "ok" "$(sql 'PRAGMA integrity_check; PRAGMA foreign_key_check')"
	is "$1: sqlite has the samples" "$samples $samples $samples $samples $samples" \
		"$(sql "SELECT (SELECT samples FROM about) || ' ' || (SELECT sum(samples) FROM stacks) || ' ' ||
			(SELECT sum(samples) FROM samples) || ' ' || (SELECT sum(samples) FROM buckets) || ' ' || (SELECT sum(exclusive) FROM methods)")"
	is "$1: sqlite: inclusive counts come out of its stacks" "" "$(sql "SELECT m.id, m.inclusive, n FROM methods m LEFT JOIN
		(SELECT method, sum(samples) AS n FROM (SELECT DISTINCT f.stack, f.method, s.samples FROM frames f JOIN stacks s ON s.id = f.stack)
		GROUP BY method) ON method = m.id WHERE n IS NOT m.inclusive")"
	is "$1: sqlite has what the run left out, and which traces it joined" "$(jq -c '[{filter: .filter}, (.traces | map([.path, .joined_with]))]' "$scratch/json")" \
		"$(jq -cn --argjson f "$(sql 'SELECT filter FROM about')" --argjson t "$(sql 'SELECT json_group_array(json_array(path, joined_with)) FROM traces')" '[$f, $t]')"
	is "$1: sqlite has the discarded, and the trust" "$(jq -c '[.discarded, .trust.frames, .trust.unresolved_frames, .trust.lost_events, .trust.rundown]' "$scratch/json")" \
		"$(sql 'SELECT json_array(discarded, frames, unresolved_frames, lost_events, trust.rundown) FROM about JOIN trust')"
	is "$1: sqlite has the methods" "$(jq '[(.methods | length), ([.methods[].inclusive] | add)] | join(" ")' "$scratch/json" | tr -d '"')" \
		"$(sql "SELECT count(*) || ' ' || sum(inclusive) FROM methods")"
	awk '/^```sql/ { on = 1; next } /^```/ { on = 0 } on' docs/report-sqlite.md >"$scratch/questions.sql"
	sqlite3 -bail "$scratch/sqlite" <"$scratch/questions.sql" >"$scratch/answers" 2>"$scratch/differ"
	check_empty "$1: every query of the documentation is answered" "$scratch/differ"
	[ "$(wc -l <"$scratch/answers")" -gt 20 ] && ok "$1: with rows" || not_ok "$1: with rows" "$scratch/answers"
}

# As a spreadsheet would take it: columns by the names in the first line.
check_csv()
{
	written csv || not_ok "$1: csv"
	if ! command -v sqlite3 >/dev/null; then
		skip "$1: csv counts the same" "no sqlite3"
		return
	fi
	columns="process, pid, clr, module, namespace, name, signature"
	sqlite3 :memory: -cmd '.mode csv' -cmd ".import $scratch/csv csv" -cmd '.mode list' "SELECT json_array(count(*), sum(exclusive), sum(inclusive),
		sum(exclusive_weight), sum(inclusive_weight), (SELECT count(*) FROM (SELECT DISTINCT $columns FROM csv))) FROM csv" >"$scratch/answers" 2>&1
	is "$1: csv has the methods, and counts the same" "$(jq -c '(.methods | length) as $n | .methods | [$n, (map(.exclusive) | add), (map(.inclusive) | add),
		(map(.exclusive_weight) | add), (map(.inclusive_weight) | add), $n]' "$scratch/json")" "$(cat "$scratch/answers")"
}

check_prom()
{
	written prom --top 0 || not_ok "$1: prom"
	is "$1: prom has the samples" "$samples $samples" "$(awk '/^rundown_profile_samples{/ { k += $NF }
		/^rundown_profile_method_exclusive_samples{/ { n += $NF } END { print k, n }' "$scratch/prom")"
	is "$1: prom: no series comes twice" 0 "$(sed -n 's/ [^ ]*$//; /^#/!p' "$scratch/prom" | sort | uniq -d | wc -l | tr -d ' ')"
	if command -v promtool >/dev/null; then
		promtool check metrics <"$scratch/prom" >"$scratch/out" 2>&1
		is "$1: promtool takes it" 0 $?
	else
		skip "$1: promtool takes it" "no promtool"
	fi
}

# check NAME WORDS...: of a run with these words, its traces and options
check()
{
	r=$scratch/r name=$1
	shift
	"$bin/rundown" run "$@" -o "$r" --force -q >"$scratch/out" 2>&1
	set -- "$name"
	written json || not_ok "$1: a result" "$scratch/out"
	samples=$(jq .samples "$scratch/json")
	written folded
	is "$1: folded has the samples" "$samples" "$(awk '{ n += $NF } END { print n }' "$scratch/folded")"
	check_csv "$1"
	check_pprof "$1"
	check_speedscope "$1"
	check_sqlite "$1"
	check_prom "$1"
}

check shop-small tests/traces/shop-small.nettrace.zst

# Views hold for these forms too.
for view in "--focus Regex" "--hide ^System" "--callees Fib --group type" "--module shop --min 2%"; do
	samples=$("$bin/rundown" report "$r" --format json $view | jq .samples)
	written pprof $view
	[ -z "$go" ] || is "$view: pprof" "$samples" \
		"$(PPROF_TMPDIR=$scratch "$go" tool pprof -top "$scratch/pprof" 2>/dev/null | sed -n 's/^.*Total samples = \([0-9]*\).*/\1/p')"
	written speedscope $view
	is "$view: speedscope" "$samples" "$(jq '[.profiles[].weights[]] | add' "$scratch/speedscope")"
	written sqlite $view
	command -v sqlite3 >/dev/null && is "$view: sqlite" "$samples" "$(sql 'SELECT sum(samples) FROM stacks')"
done
written speedscope --inverted
is "--inverted: speedscope begins with innermost frames" "$(jq -c '[.methods[] | .exclusive | select(. > 0)] | sort' "$scratch/json")" \
	"$(jq -c '[.profiles[] | [.samples, .weights] | transpose[] | {f: .[0][0], w: .[1]}] | group_by(.f) | map(map(.w) | add) | sort' "$scratch/speedscope")"
written speedscope --by thread
is "--by thread: speedscope has a profile a thread" "$("$bin/rundown" report "$r" --format json --by thread --group process | jq '.methods | length')" \
	"$(jq '.profiles | length' "$scratch/speedscope")"
if command -v script >/dev/null; then
	script -qec "'$bin/rundown' report '$r' --format pprof" /dev/null </dev/null >"$scratch/out" 2>&1
	grep -q "nothing for a terminal: name a file with -o" "$scratch/out" && ok "bytes do not go to a terminal" || not_ok "bytes do not go to a terminal" "$scratch/out"
else
	skip "bytes do not go to a terminal" "no script(1)"
fi

# A run that left something out, and traces that are one.
check "a filtered run" tests/traces/shop-small.nettrace.zst --process shop --kind managed --from 0.5 --to 2
is "a filtered run: something is left out" true "$(jq '.samples > 100 and .discarded > 100 and .filter.kind == "managed" and .filter.to_ns == 2e9' "$scratch/json")"
check "joined traces" tests/traces/shop-small.nettrace.zst tests/traces/shop-verbose.nettrace.zst --join
is "joined traces: they are" "[0,0]" "$(jq -c '[.traces[].joined_with]' "$scratch/json")"
check "traces beside each other" tests/traces/shop-small.nettrace.zst tests/traces/shop-verbose.nettrace.zst
is "traces beside each other: they are" "[0,1]" "$(jq -c '[.traces[].joined_with]' "$scratch/json")"

for trace in own/shop-large.nettrace.zst perfview/net.4.5.2.x64.etl.zip; do
	name=${trace##*/}
	if [ -r "$shared/traces/$trace" ]; then
		check "$name" "$shared/traces/$trace"
	else
		skip "$name" "no shared traces beside the checkout"
	fi
done
plan
