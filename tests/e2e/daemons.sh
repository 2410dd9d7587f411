# The worker and the merger as programs of their own: options, signals, kills, locks, a broker that comes back.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

endpoint="ipc://$scratch/broker"

# children PID: processes whose parent it is.
children()
{
	cat /proc/[0-9]*/stat 2>/dev/null | sed 's/^\([0-9]*\) (.*) [A-Z] \([0-9]*\) .*/\1 \2/' |
		awk -v parent="$1" '$2 == parent { print $1 }'
}

no_process()
{
	for p; do
		! kill -0 "$p" 2>/dev/null || return 1
	done
}

# ---- options

for program in rundown-worker rundown-merger; do
	"$bin/$program" >"$scratch/out" 2>"$scratch/err"
	is "$program without a broker: exit code" 2 $?
	is "$program without a broker: one line" "$program: --broker ENDPOINT is missing (see $program --help)" "$(cat "$scratch/err")"
	"$bin/$program" --help >"$scratch/out" 2>"$scratch/err"
	is "$program --help: exit code" 0 $?
	is "$program --help names the broker" 1 "$(grep -c -- '--broker' "$scratch/out")"
done
"$bin/rundown-worker" --broker nonsense 2>"$scratch/err"
is "a worker with a bad endpoint: exit code" 2 $?
is "a worker with a bad endpoint: one line" "rundown-worker: nonsense: cannot connect: Invalid argument (see rundown-worker --help)" "$(cat "$scratch/err")"
"$bin/rundown-merger" --broker "$endpoint" 2>"$scratch/err"
is "a merger without a state" "rundown-merger: --state DIR is missing (see rundown-merger --help)" "$(cat "$scratch/err")"
echo >"$scratch/file"
"$bin/rundown-merger" --broker "$endpoint" --state "$scratch/file/below" 2>"$scratch/err"
is "a state that cannot be: exit code" 1 $?
is "a state that cannot be: one line" \
	"rundown-merger: the merger's state: cannot make the folder: Not a directory ($scratch/file/below)" "$(cat "$scratch/err")"

# ---- without a broker: they wait, and a signal ends them

start w rundown-worker --broker "$endpoint" --log info
worker=$pid
start m rundown-merger --broker "$endpoint" --state "$scratch/state" --log info
merger=$pid
until_ok test -e "$scratch/state/work/data.mdb"
until_ok test -n "$(children $worker)"
kill -TERM $worker $merger
ended "SIGTERM without a broker: the worker" 0 $worker
ended "SIGTERM without a broker: the merger" 0 $merger

# ---- with one

start b rundown-broker --listen "$endpoint" --log debug
broker=$pid
start w rundown-worker --broker "$endpoint"
worker=$pid
start m rundown-merger --broker "$endpoint" --state "$scratch/state"
merger=$pid
until_ok line 'event=hello .*role=1' "$scratch/b" && until_ok line 'event=hello .*role=2' "$scratch/b"
is "both say HELLO" 0 $?

"$bin/rundown-merger" --broker "$endpoint" --state "$scratch/state" 2>"$scratch/err"
is "a second merger on a folder: exit code" 1 $?
is "a second merger on a folder: one line" \
	"rundown-merger: another merger works in this folder ($scratch/state)" "$(cat "$scratch/err")"

"$bin/rundown-broker" --listen "$endpoint" >"$scratch/out" 2>"$scratch/err"
is "a second broker on an endpoint: exit code" 1 $?
is "a second broker on an endpoint: one line" \
	"rundown-broker: $endpoint: cannot listen: somebody listens there already" "$(cat "$scratch/err")"
echo mine >"$scratch/notes"
"$bin/rundown-broker" --listen "ipc://$scratch/notes" >"$scratch/out" 2>"$scratch/err"
is "a file where a broker should listen: exit code" 1 $?
is "a file where a broker should listen: one line" \
	"rundown-broker: ipc://$scratch/notes: cannot listen: something that is no socket is there" "$(cat "$scratch/err")"
is "a file where a broker should listen: stays" mine "$(cat "$scratch/notes")"

kill -9 $broker
wait $broker 2>/dev/null
start b2 rundown-broker --listen "$endpoint" --log debug
broker=$pid
until_ok line 'event=hello .*role=1' "$scratch/b2" && until_ok line 'event=hello .*role=2' "$scratch/b2"
is "both greet a broker that comes back" 0 $?

# A second merger, on a folder of its own, takes the first one's place.
start m2 rundown-merger --broker "$endpoint" --state "$scratch/state2"
merger2=$pid
ended "the merger that was replaced ends" 1 $merger
is "the merger that was replaced says why" 1 "$(grep -c 'another merger has come' "$scratch/m")"

# ---- kills: what they forked dies with them

forker=$(children $worker)
forker2=$(children $merger2)
kill -9 $worker $merger2
wait $worker $merger2 2>/dev/null
until_ok no_process $forker $forker2
is "no forker outlives its daemon" 0 $?
start m2 rundown-merger --broker "$endpoint" --state "$scratch/state2"
merger2=$pid
start w rundown-worker --broker "$endpoint" --log info
worker=$pid
seen()
{
	[ "$(grep -c 'event=hello ' "$scratch/b2")" -ge 5 ]
}
until_ok seen
is "a killed merger's folder is free" 0 $?

kill -9 "$(children $worker)"
ended "a worker without its forker ends" 1 $worker
is "a worker without its forker says so" 1 "$(grep -c 'the process that forks the parsers died' "$scratch/w")"

kill -TERM $merger2 $broker
ended "SIGTERM: the merger" 0 $merger2
ended "SIGTERM: the broker" 0 $broker

# ---- the README's lines, as they are typed

zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/shop.nettrace"
path=$(cd "$bin" && pwd)
{
	sed -n '/^    mkdir .*rundown/,/^    rundown-worker/s/^    //p' README.md
	echo 'rundown submit --wait -q shop.nettrace -o shop.rundown'
	echo 'echo "exit code $?" $(stat -c %a ~/rundown ~/rundown/broker ~/rundown/merger)'
	echo 'kill $(jobs -p)'
	echo wait
} >"$scratch/readme"
(cd "$scratch" && HOME=$scratch PATH=$path:$PATH timeout 60 bash readme) >"$scratch/out" 2>"$scratch/err"
is "the README's lines for several machines" "exit code 0 700 700 700" "$(tail -n 1 "$scratch/out")"
check_empty "the README's lines for several machines: nothing goes wrong" "$scratch/err"
is "SIGTERM: the broker's socket is gone" "" "$(ls "$scratch/broker" 2>/dev/null)"
plan
