#!/bin/sh
# What docs/operations.md tells to do, done: state that is lost, results that are copied, versions that do not fit; and
# the alerts' names, which the daemons must know.
. tests/e2e/lib.sh

# ---- alerts

rules=deploy/prometheus/rundown.rules.yml
names=$(sed -n 's/^ *expr: //p' $rules | grep -o 'rundown_[a-z_]*\|process_[a-z_]*' | sort -u)
is "alerts are of some metrics" true "$([ "$(echo "$names" | wc -l)" -ge 10 ] && echo true)"
mkdir "$scratch/run" "$scratch/in"
endpoint=ipc://$scratch/run/broker
zstd -dcq tests/traces/shop-verbose.nettrace.zst >"$scratch/in/a.nettrace"
zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/in/b.nettrace"
broker='' merger='' worker=''
begin_broker()
{
	"$bin/rundown-broker" --listen "$endpoint" --state "$scratch/bs" --http 0 --log info 2>>"$scratch/broker.log" &
	broker=$!
}
begin_merger()
{
	"$bin/rundown-merger" --broker "$endpoint" --state "$scratch/ms" --http 0 --log info 2>>"$scratch/merger.log" &
	merger=$!
}
begin_worker()
{
	"$bin/rundown-worker" --broker "$endpoint" --log info 2>>"$scratch/worker.log" &
	worker=$!
}
end_all()
{
	kill $broker $merger $worker 2>/dev/null
	wait $broker $merger $worker 2>/dev/null
}
trap 'end_all; rm -rf "$scratch"' EXIT
page_of()
{
	sed -n 's/.*event=pages .*address=\([^ ]*\).*/\1/p' "$1" | tail -n 1
}
begin_broker
begin_merger
begin_worker
until_ok grep -q event=pages "$scratch/broker.log"
until_ok grep -q event=pages "$scratch/merger.log"
if command -v curl >/dev/null; then
	for log in broker merger; do
		curl -s "http://$(page_of "$scratch/$log.log")/metrics"
	done >"$scratch/metrics"
	is "the daemons tell every metric of the alerts" "" "$(for name in $names; do grep -q "^$name[ {]" "$scratch/metrics" || echo "$name"; done)"
else
	skip "the daemons tell every metric of the alerts" "no curl"
fi
if command -v promtool >/dev/null; then
	promtool check rules $rules >"$scratch/out" 2>&1
	is "promtool takes the rules" 0 $?
else
	skip "promtool takes the rules" "no promtool"
fi
is "every alert is explained" "" "$(sed -n 's/^ *- alert: //p' $rules | while read -r alert; do grep -q "$alert" docs/operations.md || echo "$alert"; done)"

# ---- a night, and what is lost of it

submit()
{
	"$bin/rundown" submit --broker "$endpoint" --each --update --wait -q "$@" >"$scratch/jobs" 2>"$scratch/err"
}
digests()
{
	for result in "$scratch/out"/*.rundown; do
		"$bin/rundown" report --digest "$result" 2>&1
	done
}
"$bin/rundown" run -q "$scratch/in/a.nettrace" -o "$scratch/a.run"
"$bin/rundown" run -q "$scratch/in/b.nettrace" -o "$scratch/b.run"
wanted=$("$bin/rundown" report --digest "$scratch/a.run"; "$bin/rundown" report --digest "$scratch/b.run")
submit "$scratch/in" -o "$scratch/out"
is "a night: exit code" 0 $?
is "a night: digests" "$wanted" "$(digests)"

# again JOB: retry it, and wait for what that makes.
again()
{
	"$bin/rundown" retry --broker "$endpoint" "$1" >"$scratch/job2" 2>"$scratch/err"
	timeout 60 "$bin/rundown" result --broker "$endpoint" "$(grep -o '[0-9a-f]*-[0-9]*' "$scratch/job2" | tail -n 1)" --wait >"$scratch/out.path" 2>"$scratch/err"
}

# The broker's state is lost.
kill $broker && wait $broker 2>/dev/null
rm -rf "$scratch/bs"
begin_broker
until_ok test "$(grep -c event=listening "$scratch/broker.log")" -ge 2
submit "$scratch/in" -o "$scratch/out"
is "the broker's state was lost, and all is said again: exit code" 0 $?
is "the broker's state was lost: digests" "$wanted" "$(digests)"

# The merger's state is lost, with a job in flight of which it has some shards.
"$bin/rundown" submit --broker "$endpoint" --force --shard-size 8KB "$scratch/in/a.nettrace" -o "$scratch/out/a.nettrace.rundown" >"$scratch/job" 2>"$scratch/err"
job=$(cat "$scratch/job")
some_done()
{
	[ "$("$bin/rundown" status --broker "$endpoint" "$job" --format json | jq .shards.done)" -ge 5 ]
}
until_ok some_done
kill -9 $merger && wait $merger 2>/dev/null
rm -rf "$scratch/ms"
begin_merger
timeout 60 "$bin/rundown" result --broker "$endpoint" "$job" --wait >"$scratch/out.path" 2>"$scratch/err"
is "the merger's state was lost, with a job in flight: exit code" 0 $?
is "the merger's state was lost: digests" "$wanted" "$(digests)"

# Both, and all is said again.
end_all
rm -rf "$scratch/bs" "$scratch/ms"
begin_broker
begin_merger
begin_worker
submit "$scratch/in" -o "$scratch/out"
is "both were lost, and all is said again: exit code" 0 $?
is "both were lost: digests" "$wanted" "$(digests)"

# ---- a backup of a result

cp -r "$scratch/out/a.nettrace.rundown" "$scratch/backup.rundown"
(cd "$scratch" && tar cf backup.tar backup.rundown && mkdir restored && tar xf backup.tar -C restored)
is "a result that was copied and packed: digest" "$("$bin/rundown" report --digest "$scratch/a.run")" \
	"$("$bin/rundown" report --digest "$scratch/restored/backup.rundown")"
printf x | dd of="$scratch/restored/backup.rundown/data.mdb" bs=1 seek=9000 conv=notrunc 2>/dev/null
"$bin/rundown" report "$scratch/restored/backup.rundown" >"$scratch/out.txt" 2>"$scratch/err"
is "a backup that a disk changed is refused" "1 1" "$? $(wc -l <"$scratch/err" | tr -d ' ')"

# ---- a stuck job: it is cancelled, and said again

kill -STOP $worker
"$bin/rundown" submit --broker "$endpoint" --force "$scratch/in/b.nettrace" -o "$scratch/out/b.nettrace.rundown" >"$scratch/job" 2>"$scratch/err"
"$bin/rundown" cancel --broker "$endpoint" "$(cat "$scratch/job")" >"$scratch/out.txt" 2>&1
is "a stuck job is cancelled" cancelled "$("$bin/rundown" status --broker "$endpoint" "$(cat "$scratch/job")" --format json | jq -r .state)"
kill -CONT $worker
again "$(cat "$scratch/job")"
is "and tried again: exit code" 0 $?
is "and tried again: digests" "$wanted" "$(digests)"
plan
