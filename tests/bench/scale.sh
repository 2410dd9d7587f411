#!/bin/sh
# scale.sh - how many workers one broker and one merger keep busy. Run it by `make bench-scale`.
#
# Workers (tests/bench/scale_worker.c) whose tasks take a known time, over tcp with keys, each eight in a network
# namespace of their own where the kernel has them; one job after the other with 1, 2, 4 ... workers. A line for each:
# workers, tasks, seconds from the first task's start to the last one's end, tasks and bytes of partials a second, the
# efficiency (what workers without any waiting would take, over what it took), the processor's time of broker and
# merger for a task, and how busy the machine's processors were: at 100 % it is the machine that bends, and neither.
#
#   RD_SCALE_MS="100 10"  lengths of tasks     RD_SCALE_WORKERS="1 2 4 8 16 32 64"     RD_SCALE_ROUNDS=20 tasks a worker,
#   but 200 at least, so that clock ticks and what a job costs once do not tell
set -u
. "${RD_ROOT:-.}/tests/e2e/lib.sh"
tools=${RD_BUILD:-build/release}/tests
lengths=${RD_SCALE_MS:-100 10}
counts=${RD_SCALE_WORKERS:-1 2 4 8 16 32 64}
rounds=${RD_SCALE_ROUNDS:-20}
mkdir "$scratch/in" "$scratch/out"

# ---- namespaces: machines of eight workers at a bridge

prefix=rs$$
machines=
at_end()
{
	kill $broker $merger $workers 2>/dev/null
	wait 2>/dev/null
	for ns in $machines; do
		ip netns del "$ns" 2>/dev/null
	done
	ip link del "${prefix}b" 2>/dev/null
	rm -rf "$scratch"
}
broker='' merger='' workers=''
trap at_end EXIT
networks()
{
	[ "$(id -u)" = 0 ] && ip link add "${prefix}b" type bridge 2>/dev/null && ip addr add 10.98.0.1/24 dev "${prefix}b" &&
		ip link set "${prefix}b" up || return 1
	i=0
	while [ $((i += 1)) -le 8 ]; do
		ns=${prefix}n$i
		ip netns add "$ns" && ip link add "${prefix}v$i" type veth peer name eth0 netns "$ns" &&
			ip link set "${prefix}v$i" master "${prefix}b" up && ip -n "$ns" addr add "10.98.0.1$i/24" dev eth0 &&
			ip -n "$ns" link set eth0 up && ip -n "$ns" link set lo up || return 1
		machines="$machines $ns"
	done
}
if networks; then
	address=10.98.0.1
else
	address=127.0.0.1
	echo "# no network namespaces: all over the loopback"
fi

# ---- a trace that grows with the tasks: one of 75 KB each, whose partial is of a real one's shape

# trace TASKS
trace()
{
	"$tools/gen/gen_trace" -o "$scratch/in/t.nettrace" --size $(($1 * 75000)) --seed 7 --format nettrace4
}
"$bin/rundown" keys "$scratch/keys" >/dev/null
port=$((20000 + $$ % 10000))
cpu_ms()
{
	awk -v hz="$(getconf CLK_TCK)" '{ print ($14 + $15 + $16 + $17) * 1000 / hz }' "/proc/$1/stat"
}
busy()
{
	awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $2 + $3 + $4 + $5 + $6 + $7 + $8 }' /proc/stat
}
seconds_of()
{
	sed -n "s/.* t=\([0-9.]*\) .*/\1/p" "$1"
}
# begin WORKERS MS
begin()
{
	"$bin/rundown-broker" --listen "tcp://$address:$port" --keys "$scratch/keys" --root "$scratch" --log debug 2>"$scratch/broker.log" &
	broker=$!
	"$bin/rundown-merger" --broker "tcp://$address:$port" --keys "$scratch/keys/merger" --state "$scratch/state" 2>/dev/null &
	merger=$!
	workers=
	i=0
	while [ $i -lt "$1" ]; do
		RD_SCALE_MS=$2 ${machines:+ip netns exec ${prefix}n$((i % 8 + 1))} "$tools/bench/scale_worker" \
			--broker "tcp://$address:$port" --keys "$scratch/keys/worker" 2>/dev/null &
		workers="$workers $!"
		i=$((i + 1))
	done
	until_ok all_there "$1"
}
all_there()
{
	[ "$(grep -c 'event=hello .*role=1' "$scratch/broker.log")" -ge "$1" ]
}

printf '%6s %8s %6s %8s %8s %8s %10s %12s %12s %8s\n' ms workers tasks seconds tasks/s MB/s efficiency broker_ms merger_ms busy
for ms in $lengths; do
	for count in $counts; do
		port=$((port + 1))
		tasks=$((count * rounds > 200 ? count * rounds : 200))
		trace $tasks
		begin "$count" "$ms"
		before_b=$(cpu_ms $broker) before_m=$(cpu_ms $merger) busy=$(busy)
		"$bin/rundown" submit --broker "tcp://$address:$port" --keys "$scratch/keys/client" --shards "$tasks" --wait -q \
			"$scratch/in/t.nettrace" -o "$scratch/out/$ms-$count.rundown" >/dev/null 2>"$scratch/err" || cat "$scratch/err" >&2
		after_b=$(cpu_ms $broker) after_m=$(cpu_ms $merger) busy="$busy $(busy)"
		grep 'event=task .*shard=' "$scratch/broker.log" >"$scratch/tasks"
		done_tasks=$(wc -l <"$scratch/tasks")
		bytes=$("$bin/rundown" report "$scratch/out/$ms-$count.rundown" --format json --stats 2>/dev/null | jq .work.partial_bytes)
		seconds_of "$scratch/tasks" | awk -v ms="$ms" -v w="$count" -v n="$done_tasks" -v bytes="${bytes:-0}" \
			-v b="$before_b" -v b2="$after_b" -v m="$before_m" -v m2="$after_m" -v busy="$busy" '
			NR == 1 { first = $1 } { last = $1 }
			END { t = last - first + ms / 1000; split(busy, x, " ")
				printf "%6d %8d %6d %8.2f %8.1f %8.2f %8.1f %% %12.2f %12.2f %6.0f %%\n", ms, w, n, t, n / t, bytes / t / 1e6,
					100 * n * ms / 1000 / w / t, (b2 - b) / n, (m2 - m) / n, 100 * (x[3] - x[1]) / (x[4] - x[2]) }'
		kill $broker $merger $workers 2>/dev/null
		wait 2>/dev/null
		broker='' merger='' workers=''
		rm -rf "$scratch/state"
	done
done
