# A broker with a journal, a merger and two workers started by hand: many jobs, kills of all of them, and the words
# about jobs: submit, status, result, cancel, retry.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

mkdir "$scratch/in" "$scratch/out" "$scratch/log"
export RUNDOWN_BROKER="ipc://$scratch/broker"
starts=0

# start NAME PROGRAM WORDS...: in the background; its pid in $NAME.
start()
{
	name=$1 program=$2
	shift 2
	starts=$((starts + 1))
	"$bin/$program" "$@" --log info >/dev/null 2>"$scratch/log/$starts-$name" &
	eval "$name=\$!"
}
start_broker()
{
	start broker rundown-broker --listen "$RUNDOWN_BROKER" --state "$scratch/bs" --root "$scratch"
}
start_merger()
{
	start merger rundown-merger --broker "$RUNDOWN_BROKER" --state "$scratch/ms"
}
start_worker()
{
	start "$1" rundown-worker --broker "$RUNDOWN_BROKER"
}
kill_hard()
{
	kill -9 "$1"
	wait "$1" 2>/dev/null
}
trap 'kill -9 $broker $merger $w1 $w2 2>/dev/null; chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT

# field JOB JQ: of its status, "" when the broker is gone.
field()
{
	"$bin/rundown" status "$1" --format json --patience 20s 2>/dev/null | jq -r "$2"
}
# until_done JOB N: N of its shards are done, or it has ended.
until_done()
{
	tries=400
	while [ $tries -gt 0 ]; do
		[ "$(field "$1" "(.shards.done >= $2 and .shards.total > 0) or .state == \"done\" or .state == \"failed\"")" != true ] ||
			return 0
		tries=$((tries - 1))
		sleep 0.01
	done
	return 1
}
digest()
{
	"$bin/rundown" report "$1" --digest
}

for name in shop-small shop-verbose; do
	zstd -dcq "tests/traces/$name.nettrace.zst" >"$scratch/in/$name.nettrace"
	"$bin/rundown" run -q "$scratch/in/$name.nettrace" -o "$scratch/out/$name.run"
done
zstd -dcq tests/traces/linux-cpu-v6.nettrace.zst >"$scratch/in/cpu.nettrace"
"$bin/rundown" run -q "$scratch/in/cpu.nettrace" -o "$scratch/out/cpu.run"
names="shop-small shop-verbose cpu"

# ---- three jobs in flight, and everybody is killed

start_broker
start_merger
start_worker w1
start_worker w2
jobs=
for name in $names; do
	jobs="$jobs $("$bin/rundown" submit "$scratch/in/$name.nettrace" --shard-size 100KB -o "$scratch/out/$name.rundown")"
done
set -- $jobs
is "three jobs are taken" 3 $#
until_done "$1" 3
kill_hard $broker
start_broker
is "a job is known to the broker that comes back" "$1" "$(field "$1" .id)"
until_done "$1" 8
kill_hard $w1
start_worker w1
until_done "$2" 6
kill_hard $merger
start_merger
until_done "$2" 12
kill_hard $w1
kill_hard $w2
"$bin/rundown" status "$2" --top 3 >"$scratch/top" 2>"$scratch/err"
is "early answers: exit code" 0 $?
is "early answers: marked as such, with the share that is done" 1 \
	"$(grep -c '^preliminary: [0-9]* % done .* shards merged, [1-9][0-9,]* samples$' "$scratch/top")"
is "early answers: at most so many" true "$("$bin/rundown" status "$2" --top 3 --format json |
	jq '.preliminary and (.methods | length) <= 3 and .methods[0].exclusive >= .methods[1].exclusive')"
is "early answers: reconciled over what is merged" true \
	"$("$bin/rundown" status "$2" --top 3 --format json | jq .reconciled)"
"$bin/rundown" report --broker "$RUNDOWN_BROKER" "$2" --top 3 >"$scratch/early" 2>"$scratch/err"
is "report of a job that runs: exit code" 0 $?
is "report of a job that runs: what status says" "$(cat "$scratch/top")" "$(cat "$scratch/early")"
"$bin/rundown" report --broker "$RUNDOWN_BROKER" "$2" --format json -o "$scratch/early.json" 2>"$scratch/err"
is "report of a job that runs: json into a file" "0 true" \
	"$? $(jq '.preliminary and .share > 0 and .share < 1 and .methods[0].exclusive > 0' "$scratch/early.json")"
"$bin/rundown" report --broker "$RUNDOWN_BROKER" "$2" --format folded >"$scratch/early" 2>"$scratch/err"
is "report of a job that runs: what it cannot have" "2 1" "$? $(grep -c 'the job still runs' "$scratch/err")"
kill_hard $broker
kill_hard $merger
start_merger
start_worker w1
start_broker
start_worker w2
for name in $names; do
	"$bin/rundown" result "$1" --wait >"$scratch/path" 2>"$scratch/err"
	is "$name: exit code after the kills" 0 $?
	is "$name: where the result is" "$scratch/out/$name.rundown" "$(cat "$scratch/path")"
	is "$name: the digest of an undisturbed run" "$(digest "$scratch/out/$name.run")" "$(digest "$scratch/out/$name.rundown")"
	# One attempt a task, and what was in hand at the kills.
	is "$name: nothing merged is decoded again" true "$(field "$1" '.attempts <= .shards.total + 1 + 12')"
	is "$name: nothing was given up" 0 "$(field "$1" .shards.quarantined)"
	shift
done

# ---- a broker remembers what has ended

kill_hard $broker
start_broker
is "ended jobs are known after a restart" "done done done" \
	"$("$bin/rundown" status --format json | jq -r 'map(.state) | join(" ")')"
"$bin/rundown" status >"$scratch/out/table"
is "a table of all jobs" 4 "$(wc -l <"$scratch/out/table" | tr -d ' ')"

# ---- cancel and retry

job=$("$bin/rundown" submit "$scratch/in/shop-verbose.nettrace" --shard-size 20KB -o "$scratch/out/again.rundown")
"$bin/rundown" cancel "$job"
is "cancel: exit code" 0 $?
is "cancel: the state" cancelled "$(field "$job" .state)"
"$bin/rundown" result "$job" >"$scratch/path" 2>"$scratch/err"
is "the result of a cancelled job: exit code" 1 $?
is "the result of a cancelled job: one line" \
	"rundown result: the job came to nothing: the job was cancelled" "$(cat "$scratch/err")"
again=$("$bin/rundown" retry "$job")
is "retry: exit code" 0 $?
"$bin/rundown" result "$again" --wait >"$scratch/path"
is "retry: exit code of the result" 0 $?
is "retry: the digest" "$(digest "$scratch/out/shop-verbose.run")" "$(digest "$scratch/out/again.rundown")"
"$bin/rundown" status "$again" --top 3 2>"$scratch/err"
is "early answers of an ended job: exit code" 1 $?
is "report of an ended job: that of its result" "$(digest "$scratch/out/again.rundown")" \
	"$("$bin/rundown" report --broker "$RUNDOWN_BROKER" "$again" --digest)"
"$bin/rundown" report --broker "$RUNDOWN_BROKER" "$job" 2>"$scratch/err"
is "report of a cancelled job" "1 rundown report: the job came to nothing: the job was cancelled" "$? $(cat "$scratch/err")"
"$bin/rundown" report --broker "$RUNDOWN_BROKER" nobody 2>"$scratch/err"
is "report of a job that nobody knows" "1 1" "$? $(grep -c 'no such job.*nobody' "$scratch/err")"
"$bin/rundown" retry "$again" >"$scratch/path" 2>"$scratch/err"
is "retry of a whole job: exit code" 1 $?
is "retry of a whole job: one line" "rundown retry: nothing of this job was given up ($again)" "$(cat "$scratch/err")"
"$bin/rundown" result "$again" -o "$scratch/copy.rundown" >"$scratch/path"
is "a fetched copy: exit code" 0 $?
is "a fetched copy: the digest" "$(digest "$scratch/out/again.rundown")" "$(digest "$scratch/copy.rundown")"
# A link stays; what is not a result and nothing else is not replaced; nothing is left beside.
ln -s copy.rundown "$scratch/copy-link"
"$bin/rundown" result "$again" -o "$scratch/copy-link/" --force >"$scratch/path" 2>"$scratch/err"
is "a copy to a link: exit code" 0 $?
is "a copy to a link: it stays" copy.rundown "$(readlink "$scratch/copy-link")"
echo mine >"$scratch/copy.rundown/notes"
"$bin/rundown" result "$again" -o "$scratch/copy.rundown" --force >"$scratch/path" 2>"$scratch/err"
is "a copy over a file of the user's" 1 $?
is "a copy over a file of the user's: names it" 1 "$(grep -c 'it holds notes, which is no part of a result' "$scratch/err")"
rm "$scratch/copy.rundown/notes"
is "copies leave nothing beside" "" "$(ls -A "$scratch" | grep '^\.copy')"
"$bin/rundown" result "$again" -o "$scratch/copy.rundown" 2>"$scratch/err"
is "a copy does not replace: exit code" 1 $?

# ---- submit --wait ends as run does

head -c 2000000 "$scratch/in/shop-small.nettrace" >"$scratch/in/cut.nettrace"
"$bin/rundown" submit --wait -q "$scratch/in/cut.nettrace" -o "$scratch/out/cut.rundown" >"$scratch/path" 2>"$scratch/err"
is "submit --wait of a cut trace: exit code" 3 $?
job=$(cat "$scratch/path")
"$bin/rundown" run -q "$scratch/in/cut.nettrace" -o "$scratch/out/cut.run" 2>"$scratch/run-says"
is "submit --wait of a cut trace: says why, as run does" "$(sed 's/^rundown run:/rundown submit:/' "$scratch/run-says")" \
	"$(cat "$scratch/err")"
"$bin/rundown" result "$job" >"$scratch/path" 2>"$scratch/err"
is "the result of a cut trace: exit code" 3 $?
is "the result of a cut trace: says why, as run does" "$(sed 's/^rundown run:/rundown result:/' "$scratch/run-says")" \
	"$(cat "$scratch/err")"
mv "$scratch/out/cut.rundown" "$scratch/out/elsewhere"
"$bin/rundown" result "$job" >"$scratch/path" 2>"$scratch/err"
is "the result of a cut trace that is elsewhere: exit code, one line" "3 1" \
	"$? $(grep -c 'of an incomplete input, and cannot be read here to tell why' "$scratch/err")"
# Lines and objects of several jobs say whose they are, and each comes to its end.
echo >"$scratch/plain"
"$bin/rundown" submit --each "$scratch/in/shop-small.nettrace" "$scratch/in/cpu.nettrace" -o "$scratch/plain/each" \
	>"$scratch/path" 2>"$scratch/err"
is "submit --each into what cannot be a folder: exit code" 1 $?
is "submit --each into what cannot be a folder: one line" \
	"rundown submit: cannot make the folder: Not a directory ($scratch/plain/each)" "$(cat "$scratch/err")"
"$bin/rundown" submit --each --wait --progress plain "$scratch/in/shop-small.nettrace" "$scratch/in/cpu.nettrace" \
	-o "$scratch/deep/each" >"$scratch/path" 2>"$scratch/err"
is "submit --each --wait, lines: exit code" 0 $?
while read -r job; do
	is "submit --each --wait, lines: a job comes to its end" 1 "$(grep -c "^rundown submit: $job: 100 %, [0-9.]* MB" "$scratch/err")"
done <"$scratch/path"
is "submit --each --wait, lines: all are of submit" 0 "$(grep -vc '^rundown submit: [0-9a-f-]*: ' "$scratch/err")"
"$bin/rundown" submit --each --force --wait --progress json "$scratch/in/shop-small.nettrace" "$scratch/in/cut.nettrace" \
	-o "$scratch/deep/each" >"$scratch/path" 2>"$scratch/err"
is "submit --each --wait, objects: exit code" 3 $?
while read -r job; do
	is "submit --each --wait, objects: the last state, where the result is" "done true" \
		"$(jq -rn --arg job "$job" '[inputs | select(.job == $job)] |
			"\(map(.state // empty) | last) \(last.result | test("/each/.*rundown$"))"' "$scratch/err")"
done <"$scratch/path"
is "submit --each --wait, objects: each is a job's or a note" true "$(jq -n '[inputs | has("job") or has("note")] | all' "$scratch/err")"
# Whoever ends his wait is told that the work goes on.
kill_hard $w1
kill_hard $w2
"$bin/rundown" submit --force --wait --progress plain "$scratch/in/cut.nettrace" -o "$scratch/out/cut.rundown" \
	>"$scratch/path" 2>"$scratch/err" &
pid=$!
until_ok line 'reading the index' "$scratch/err"
kill -TERM $pid
ended "submit --wait, ended by a signal" 143 $pid
job=$(cat "$scratch/path")
is "submit --wait, ended by a signal: tells what goes on" \
	"rundown submit: note: no longer waiting (Terminated); the job goes on: rundown result $job --wait waits for it, rundown cancel $job ends it" \
	"$(tail -n 1 "$scratch/err")"
"$bin/rundown" cancel "$job"
start_worker w1
start_worker w2
printf 'no trace at all' >"$scratch/in/none.nettrace"
"$bin/rundown" submit --wait -q "$scratch/in/none.nettrace" -o "$scratch/out/none.rundown" >"$scratch/path" 2>"$scratch/err"
is "submit --wait of no trace: exit code" 1 $?
is "submit --wait of no trace: names it" 1 "$(grep -c "none.nettrace" "$scratch/err")"
"$bin/rundown" submit "$scratch/in/cut.nettrace" --shards 2 --shard-size 1MB 2>"$scratch/err"
is "submit with words that contradict: exit code" 2 $?
"$bin/rundown" submit "$PWD/tests/traces/shop-small.nettrace.zst" -o "$scratch/out/far.rundown" 2>"$scratch/err"
is "a trace outside the roots: exit code" 1 $?
is "a trace outside the roots: says so" 1 "$(grep -c 'the broker takes no jobs of this folder' "$scratch/err")"
"$bin/rundown" status nosuch 2>"$scratch/err"
is "an unknown job: exit code" 1 $?
"$bin/rundown" status --broker "ipc://$scratch/nobody" --patience 100ms 2>"$scratch/err"
is "no broker: exit code" 1 $?
is "no broker: one line" "rundown status: no broker answers at ipc://$scratch/nobody" "$(cat "$scratch/err")"
"$bin/rundown" status --broker tcp://127.0.0.1:1 2>"$scratch/err"
is "tcp without its flag: exit code" 2 $?

# ---- a folder again and again

mkdir "$scratch/night" "$scratch/results"
cp "$scratch/in/cpu.nettrace" "$scratch/night/one.nettrace"
head -c 3000000 "$scratch/in/shop-small.nettrace" >"$scratch/night/two.nettrace"
cp tests/traces/site-crashed.nettrace.zst "$scratch/night/three.nettrace.zst"
each="$bin/rundown submit --each --update --wait -q $scratch/night -o $scratch/results"
$each >"$scratch/ids" 2>"$scratch/err"
is "a folder: exit code of the worst" 3 $?
is "a folder: a job for each" 3 "$(wc -l <"$scratch/ids" | tr -d ' ')"
$each >"$scratch/ids" 2>"$scratch/err"
is "again: exit code" 3 $?
is "again: nothing is decoded" 0 "$(for job in $(cat "$scratch/ids"); do field "$job" '.attempts - .inputs'; done |
	awk '{ if ($1 > 1) n++ } END { print n + 0 }')"
mkdir "$scratch/twin"
cp "$scratch/in/cpu.nettrace" "$scratch/twin/one.nettrace"
"$bin/rundown" submit --each "$scratch/night/one.nettrace" "$scratch/twin" -o "$scratch/twin" >"$scratch/ids" 2>"$scratch/err"
is "two traces of one name: exit code" 2 $?
is "two traces of one name: says so" 1 "$(grep -c 'two traces would have the result' "$scratch/err")"
cp "$scratch/in/shop-small.nettrace" "$scratch/night/two.nettrace"
$each >"$scratch/ids" 2>"$scratch/err"
is "a grown trace replaces, never adds" "$(digest "$scratch/out/shop-small.run")" \
	"$(digest "$scratch/results/two.nettrace.rundown")"
# A sweep is nobody's to wait for.
tries=0
while [ -n "$(find "$scratch/results" -name '.rundown-*')" ] && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.02
done
find "$scratch/results" -name '.*' >"$scratch/left"
check_empty "nothing is left beside the results" "$scratch/left"

kill -TERM $broker $merger $w1 $w2
for name in broker merger w1 w2; do
	eval "wait \$$name"
	is "SIGTERM: the $name" 0 $?
done
plan
