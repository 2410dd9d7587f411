#!/bin/sh
# What surrounds a process: standard streams that are closed or full, few descriptors, signals, stops.
. tests/e2e/lib.sh

bin=$(cd "$bin" && pwd)
mkdir "$scratch/tmp" "$scratch/work"
TMPDIR=$scratch/tmp
export TMPDIR
for name in shop-small shop-verbose; do
	zstd -dcq "tests/traces/$name.nettrace.zst" >"$scratch/$name.nettrace"
done
small=$scratch/shop-small.nettrace
cd "$scratch/work" || exit 1

# ---- streams
# Whatever of them is missing, no file of ours gets its number: the result is whole.
"$bin/rundown" run "$small" -o whole.rundown -q
whole=$("$bin/rundown" report whole.rundown --digest)
run="\"$bin/rundown\" run \"$small\" -o r.rundown --force --workers 2"
for streams in '<&-' '2>&-' '<&- 2>&-' '>/dev/null <&- 2>&-'; do
	eval "$run $streams" >"$scratch/out" 2>"$scratch/err"
	is "run $streams: exit code" 0 $?
	is "run $streams: the result" "$whole" "$("$bin/rundown" report r.rundown --digest)"
done
for streams in '>&-' '>&- <&-' '>/dev/full'; do
	eval "$run $streams" 2>"$scratch/err"
	is "run $streams: exit code" 1 $?
	is "run $streams: says so, and that there is a result" "1 1" \
		"$(grep -c 'writing the output' "$scratch/err") $(grep -c 'the result is in r.rundown' "$scratch/err")"
	is "run $streams: the result" "$whole" "$("$bin/rundown" report r.rundown --digest)"
done
eval "$run -q >&-"
is "run -q >&-: it has nothing to say" 0 $?
for streams in '>&-' '>/dev/full'; do
	for words in 'report r.rundown' 'report r.rundown --format json' 'report r.rundown --digest' "inspect $small" \
		help -V 'run --help' 'inspect -V'; do
		eval "\"$bin/rundown\" $words $streams" 2>"$scratch/err"
		is "$words $streams: exit code and one line" "1 1" "$? $(grep -c 'writing the output' "$scratch/err")"
	done
	for program in broker worker merger; do
		eval "\"$bin/rundown-$program\" --help $streams" 2>"$scratch/err"
		is "rundown-$program --help $streams: exit code and one line" "1 1" "$? $(grep -c 'writing the output' "$scratch/err")"
	done
done
"$bin/rundown" report r.rundown -o f.json --format json >&- 2>&- <&-
is "report -o without streams: exit code" 0 $?
is "report -o without streams: whole" "$("$bin/rundown" report r.rundown --format json | cksum)" "$(cksum <f.json)"
rm -f f.json
left "streams"

# ---- descriptors
for n in 6 8 20 63; do
	(ulimit -n $n && exec "$bin/rundown" run "$small" -o x.rundown) >"$scratch/out" 2>"$scratch/err"
	is "$n descriptors: exit code and one line" "1 1" "$? $(grep -c "only $n files may be open at a time" "$scratch/err")"
done
for program in broker worker merger; do
	(ulimit -n 8 && exec "$bin/rundown-$program" --help) >"$scratch/out" 2>"$scratch/err"
	is "rundown-$program with 8 descriptors" "1 1" "$? $(grep -c 'only 8 files' "$scratch/err")"
done
(ulimit -S -n 8 && eval "exec $run -q")
is "a low soft limit is raised" 0 $?
(ulimit -n 64 && exec "$bin/rundown" run "$small" -o r.rundown --force -q --workers 32)
is "64 descriptors: 32 workers" 0 $?
(ulimit -n 64 && exec "$bin/rundown" run "$small" -o r.rundown --force -q --workers 33) 2>"$scratch/err"
is "64 descriptors: 33 workers" "1 1" "$? $(grep -c '33 workers need 65 open files' "$scratch/err")"
left "descriptors"

# ---- signals. Long enough to be hit: many copies.
copies=
for i in 1 2 3 4 5 6; do
	cp "$scratch/shop-verbose.nettrace" "$i.nettrace"
	copies="$copies $i.nettrace"
done
begin()
{
	rm -rf long.rundown
	env --default-signal=INT,QUIT "$bin/rundown" run $copies -o long.rundown --shards 5 --workers 2 "$@" >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	child $pid rundown-worker >/dev/null
}
for one in 1:HUP 2:INT 3:QUIT 15:TERM; do
	number=${one%:*} signal=${one#*:}
	begin
	sleep 0.05
	kill -$signal $pid
	wait $pid
	is "SIG$signal: exit code" $((128 + number)) $?
	is "SIG$signal: says so" 1 "$(grep -c 'stopped (.*); no result was written' "$scratch/err")"
	left "SIG$signal"
done
# By the signal itself, and not by an exit code that looks like it: only then a shell's loop ends, too.
cat >"$scratch/loop" <<-END
	for i in 1 2 3; do
		"$bin/rundown" run $copies -o long.rundown --force -q --workers 2
		echo "went on"
	done
END
if command -v bash >/dev/null; then
	env --default-signal=INT setsid bash "$scratch/loop" >"$scratch/out" 2>/dev/null &
	pid=$!
	child "$(child $pid rundown)" rundown-worker >/dev/null
	sleep 0.05
	kill -INT -$pid
	wait $pid
	check_empty "Ctrl-C ends the loop that runs us" "$scratch/out"
	left "Ctrl-C"
else
	skip "Ctrl-C ends the loop that runs us" "no bash"
fi
(trap '' HUP && exec env --default-signal=INT "$bin/rundown" run $copies -o long.rundown --force -q) &
pid=$!
child $pid rundown-worker >/dev/null
kill -HUP $pid
wait $pid
is "nohup: a hangup is nothing to it" 0 $?

# inspect unpacks into a private folder.
cp "$OLDPWD/tests/traces/shop-verbose.nettrace.zst" packed.zst
for one in 1:HUP 2:INT 3:QUIT 15:TERM; do
	number=${one%:*} signal=${one#*:}
	env --default-signal=INT,QUIT "$bin/rundown" inspect packed.zst packed.zst packed.zst packed.zst packed.zst packed.zst >/dev/null 2>&1 &
	pid=$!
	tries=0
	while [ -z "$(ls "$scratch/tmp")" ] && [ $tries -lt 500 ]; do
		tries=$((tries + 1))
		sleep 0.002
	done
	kill -$signal $pid
	wait $pid
	is "inspect, SIG$signal: exit code" $((128 + number)) $?
	left "inspect, SIG$signal"
done
rm packed.zst

# ---- stops. They are told, and an interrupt still cleans up.
for name in broker merger worker; do
	begin
	victim=$(child $pid rundown-$name)
	kill -STOP "$victim"
	tries=0
	until grep -q 'does not answer' "$scratch/err" || [ $tries -ge 300 ] || ! kill -0 $pid; do
		tries=$((tries + 1))
		sleep 0.05
	done 2>/dev/null
	is "a stopped $name is told" 1 \
		"$(grep -cE "note: (the|a) $name \(pid $victim\) does not answer since [0-9]+ s: it is stopped" "$scratch/err")"
	kill -INT $pid
	wait $pid
	is "a stopped $name, SIGINT: exit code" 130 $?
	left "a stopped $name, SIGINT"
done
begin -q
victim=$(child $pid rundown-merger)
kill -STOP "$victim"
sleep 0.2
kill -CONT "$victim"
wait $pid
is "one that goes on: exit code" 0 $?
check_empty "one that goes on: nothing is said" "$scratch/err"
left "one that goes on"
plan
