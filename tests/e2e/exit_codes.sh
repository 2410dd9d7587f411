#!/bin/sh
# docs/exit-codes.md, every x of its table: a case for each, and no case without an x.
. tests/e2e/lib.sh

mkdir "$scratch/in" "$scratch/out" "$scratch/none"
trace=tests/traces/shop-small.nettrace.zst
crashed=tests/traces/site-crashed.nettrace.zst
r=$scratch/r b=$scratch/b c=$scratch/c
export RUNDOWN_BROKER="ipc://$scratch/broker"
broker='' merger='' worker=''
trap 'kill $broker $merger $worker 2>/dev/null; wait; rm -rf "$scratch"' EXIT
: >"$scratch/tried"

# code NAME WANTED COMMAND...: its exit code; all of NAME a name of the table. What fails says so by its name.
code()
{
	name=$1 wanted=$2
	shift 2
	"$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
	is "$name: $wanted: ${*#*/bin/}" "$wanted" $?
	echo "$name $wanted" >>"$scratch/tried"
	case $wanted in
	1 | 2) grep -q "^rundown" "$scratch/stderr" || not_ok "$name: $wanted: says so by its name" "$scratch/stderr" ;;
	esac
}

rundown=$bin/rundown
code run 0 "$rundown" run $trace -o "$r" -q
code run 0 "$rundown" run tests/traces/shop-verbose.nettrace.zst -o "$b" -q
code run 1 "$rundown" run "$scratch/nothing" -o "$scratch/x"
code run 1 "$rundown" run $trace -o "$scratch/x" --from 1000
code run 2 "$rundown" run --no-such-option $trace
code run 3 "$rundown" run $crashed -o "$c" -q
code report 0 "$rundown" report "$r"
code report 0 "$rundown" report "$r" --focus 'no such frame'
code report 1 "$rundown" report "$scratch/nothing"
code report 1 "$rundown" report "$r" --process nobody
code report 2 "$rundown" report "$r" --group
code report 3 "$rundown" report "$c"
code diff 0 "$rundown" diff "$r" "$b"
code diff 1 "$rundown" diff "$r" "$scratch/nothing"
code diff 2 "$rundown" diff "$r"
code diff 3 "$rundown" diff "$r" "$c"
code diff 4 "$rundown" diff "$r" "$c" --fail-over 0.1%
code top 0 "$rundown" top "$r" "$b"
code top 1 "$rundown" top "$scratch/nothing"
code top 2 "$rundown" top
code top 3 "$rundown" top "$r" "$c"
for command in inspect events; do
	code $command 0 "$rundown" $command $trace
	code $command 1 "$rundown" $command "$scratch/nothing"
	code $command 2 "$rundown" $command --format xml $trace
	code $command 3 "$rundown" $command $crashed
done
code keys 0 "$rundown" keys "$scratch/keys"
code keys 1 "$rundown" keys /proc/nothing
code keys 2 "$rundown" keys
code capture-state 0 "$rundown" capture-state encode --disable
code capture-state 1 "$rundown" capture-state check tests/fuzz/corpus/capture/twice
code capture-state 1 "$rundown" capture-state decode "$scratch/nothing"
code capture-state 2 "$rundown" capture-state encode
code il-map 0 "$rundown" il-map convert --to-old tests/fuzz/corpus/il_map/three 12
code il-map 1 "$rundown" il-map convert --to-old tests/fuzz/corpus/il_map/unsorted 12
code il-map 2 "$rundown" il-map convert tests/fuzz/corpus/il_map/three 12

# ---- with daemons

"$bin/rundown-broker" --listen "$RUNDOWN_BROKER" --state "$scratch/bs" 2>"$scratch/broker.log" &
broker=$!
"$bin/rundown-merger" --broker "$RUNDOWN_BROKER" --state "$scratch/ms" 2>/dev/null &
merger=$!
code submit 0 "$rundown" submit $trace -o "$scratch/out/early"
early=$(head -n 1 "$scratch/stdout")
code status 0 "$rundown" status "$early"
code result 1 "$rundown" result "$early"
code cancel 0 "$rundown" cancel "$early"
code retry 0 "$rundown" retry "$early"
"$bin/rundown-worker" --broker "$RUNDOWN_BROKER" 2>/dev/null &
worker=$!
code submit 0 "$rundown" submit --wait $trace -o "$scratch/out/whole"
code submit 1 "$rundown" submit --wait "$scratch/nothing"
code submit 2 "$rundown" submit
code submit 3 "$rundown" submit --wait $crashed -o "$scratch/out/crashed"
job=$("$rundown" submit $crashed -o "$scratch/out/again")
code result 3 "$rundown" result "$job" --wait
code result 0 "$rundown" result --wait "$("$rundown" submit $trace -o "$scratch/out/more")"
for command in status result cancel retry; do
	code $command 1 "$rundown" $command no-such-job
	code $command 2 "$rundown" $command --no-such-option x
done
for daemon in worker merger broker; do
	eval "pid=\$$daemon"
	kill -TERM "$pid"
	wait "$pid"
	is "rundown-$daemon ends when it is asked to" 0 $?
	echo "rundown-broker 0" >>"$scratch/tried"
	code rundown-broker 2 "$bin/rundown-$daemon" --no-such-option
done
broker='' merger='' worker=''
code rundown-broker 1 "$bin/rundown-broker" --listen "ipc://$scratch/none/no/such/folder" --state "$scratch/bs2"
code rundown-broker 1 "$bin/rundown-merger" --broker "$RUNDOWN_BROKER" --state /proc/nothing
code rundown-broker 1 "$bin/rundown-worker" --broker tcp://127.0.0.1:1 --keys "$scratch/none"

# ---- the table

awk -F '|' '/^\| `/ && NF >= 8 {
	n = split($2, names, ",")
	for (i = 1; i <= n; i++) {
		gsub(/[` ]/, "", names[i])
		for (code = 0; code <= 4; code++)
			if ($(3 + code) ~ /x/ && names[i] !~ /^-/)
				print names[i], code
	}
}' docs/exit-codes.md | sort >"$scratch/told"
sort -u "$scratch/tried" | diff - "$scratch/told" >"$scratch/differ"
check_empty "every code of the table was met, and no other" "$scratch/differ"
"$rundown" report "$r" --top 0 | head -n 1 >/dev/null
is "who stops reading is no failure" 0 $?
plan
