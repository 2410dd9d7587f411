#!/bin/sh
# The scripts of docs/nightly.md, taken from the page and run.
. tests/e2e/lib.sh

PATH=$(realpath "$bin"):$PATH
export PATH
page=$(realpath docs/nightly.md)
mkdir "$scratch/traces" "$scratch/results" "$scratch/scripts"
for trace in shop-small shop-verbose site-crashed; do
	zstd -dqc "tests/traces/$trace.nettrace.zst" >"$scratch/traces/$trace.nettrace"
done

for name in $(sed -n 's/^```sh \(.*\)$/\1/p' "$page"); do
	block "$name" "$page" >"$scratch/scripts/$name"
	# slurm.sh has a cluster for this one.
	[ "$name" = slurm ] || echo "$name" >>"$scratch/names"
done

# example NAME WANTED WORDS...: run it; its exit code, and nothing on stderr that begins with "rundown" and is no note.
example()
{
	name=$1 wanted=$2
	shift 2
	grep -vx "$name" "$scratch/names" >"$scratch/left"
	mv "$scratch/left" "$scratch/names"
	(cd "$scratch" && sh "scripts/$name" "$@") >"$scratch/out" 2>"$scratch/err"
	is "$name: exit code" "$wanted" $?
}

example cron 0 "$scratch/traces" "$scratch/results"
is "cron: a result a trace, and the trend" "3 true" "$(ls -d "$scratch/results"/*.rundown | wc -l | tr -d ' ') $(
	[ "$(wc -l <"$scratch/results/trend.csv")" -gt 1000 ] && echo true)"
touch -d '1 hour ago' "$scratch/traces"/*
inode=$(stat -c %i "$scratch/results/shop-small.nettrace.rundown")
echo cron >>"$scratch/names"
example cron 0 "$scratch/traces" "$scratch/results"
is "cron: what is done is not done again" "$inode" "$(stat -c %i "$scratch/results/shop-small.nettrace.rundown")"
echo nothing >"$scratch/traces/bad.nettrace"
echo cron >>"$scratch/names"
example cron 1 "$scratch/traces" "$scratch/results"
rm "$scratch/traces/bad.nettrace"

export RUNDOWN_BROKER="ipc://$scratch/broker"
rundown-broker --listen "$RUNDOWN_BROKER" --state "$scratch/bs" 2>/dev/null &
broker=$!
rundown-merger --broker "$RUNDOWN_BROKER" --state "$scratch/ms" 2>/dev/null &
merger=$!
rundown-worker --broker "$RUNDOWN_BROKER" 2>/dev/null &
worker=$!
mkdir "$scratch/by-daemons"
example daemons 0 "$scratch/traces" "$scratch/by-daemons"
is "daemons: the same results" "$(for r in "$scratch/results"/*.rundown; do rundown report "$r" --digest; done)" \
	"$(for r in "$scratch/by-daemons"/*.rundown; do rundown report "$r" --digest; done)"
kill $broker $merger $worker
wait

base=$scratch/results/shop-small.nettrace.rundown
example gate 0 "$base" "$scratch/traces/shop-small.nettrace"
is "gate: the page is there" true "$([ -s "$scratch/diff.html" ] && echo true)"
echo gate >>"$scratch/names"
example gate 1 "$base" "$scratch/traces/site-crashed.nettrace"
is "gate: it says what is worse" 1 "$(grep -c '^rundown diff: worse: ' "$scratch/err")"
echo gate >>"$scratch/names"
example gate 2 "$base" "$scratch/traces/nothing"
if command -v sqlite3 >/dev/null; then
	example database 0 "$scratch/results"
	is "database: the hottest modules as report has them" "$(for r in "$scratch/results"/*.rundown; do
		rundown report "$r" --format json | jq -r --arg r "${r##*/}" '[.methods | group_by(.module)[] | {module: .[0].module, n: map(.exclusive) | add}]
			| sort_by(-.n, .module)[:3][] | "\($r) \(.module) \(.n)"'
	done)" "$(cat "$scratch/out")"
else
	skip "database" "no sqlite3"
	grep -vx database "$scratch/names" >"$scratch/left" && mv "$scratch/left" "$scratch/names"
fi
example json 0 10 "$base"
is "json: methods over 10 %" "$(rundown report "$base" --format json | jq '[.methods[] | select(.exclusive > 906.5)] | length')" "$(wc -l <"$scratch/out" | tr -d ' ')"
example prometheus 0 "$base" "$scratch"
is "prometheus: ten methods" 10 "$(grep -c '^rundown_profile_method_exclusive_samples{' "$scratch/rundown.prom")"
is "every example was run" "" "$(cat "$scratch/names" 2>/dev/null)"
plan
