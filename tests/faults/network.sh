# Rows 8 to 11: broker and workers on two networks with a router between, which fails.
case $(id -u) in
0) ;;
*)
	echo "ok 1 - fault_08_a_silent_partition # skip only root makes networks"
	echo "1..1"
	exit
	;;
esac
endpoint=tcp://10.97.1.1:7411
. "${RD_ROOT:-.}/tests/faults/lib.sh"

near=rd$$n far=rd$$f mid=rd$$m
at_end()
{
	for ns in $near $far $mid; do
		ip netns del $ns 2>/dev/null
	done
}
networks()
{
	for ns in $near $far $mid; do
		ip netns add $ns && ip -n $ns link set lo up || return 1
	done
	ip link add ${near}0 netns $near type veth peer name ${near}1 netns $mid &&
		ip link add ${far}0 netns $far type veth peer name ${far}1 netns $mid || return 1
	ip -n $near addr add 10.97.1.1/24 dev ${near}0 && ip -n $near link set ${near}0 up
	ip -n $mid addr add 10.97.1.254/24 dev ${near}1 && ip -n $mid link set ${near}1 up
	ip -n $far addr add 10.97.2.1/24 dev ${far}0 && ip -n $far link set ${far}0 up
	ip -n $mid addr add 10.97.2.254/24 dev ${far}1 && ip -n $mid link set ${far}1 up
	ip -n $near route add default via 10.97.1.254
	ip -n $far route add default via 10.97.2.254
	ip netns exec $mid sysctl -qw net.ipv4.ip_forward=1
}
if ! networks 2>"$scratch/err"; then
	skip "fault_08_a_silent_partition" "no network namespaces"
	plan
	exit
fi
in_broker="ip netns exec $near" in_merger=$in_broker in_client=$in_broker in_worker="ip netns exec $far"
broker_options="--plain-tcp --log debug" merger_options=--plain-tcp worker_options=--plain-tcp client_options=--plain-tcp

traces 10
jobs=0
# one_job: of a hundred shards.
one_job()
{
	jobs=$((jobs + 1))
	result=$scratch/out/$jobs.rundown
	submit $all_traces --shards "${1:-10}" -o "$result"
}
hellos()
{
	[ "$(grep -c 'event=hello .*role=1' "$log_broker")" -ge "$1" ]
}
lost()
{
	[ "$(grep -c 'event=gone .*role=1' "$log_broker")" -ge "$1" ]
}
forward()
{
	ip netns exec $mid sysctl -qw net.ipv4.ip_forward="$1"
}
# partition NAME CUT HEAL: in the middle of a job; both workers are missed within five seconds, and come back.
partition()
{
	one_job
	until_shards "$job" 2
	gone_before=$(grep -c 'event=gone .*role=1' "$log_broker")
	hello_before=$(grep -c 'event=hello .*role=1' "$log_broker")
	eval "$2"
	from=$(now_ms)
	until_ok lost $((gone_before + 2))
	seen_ms=$(($(now_ms) - from))
	is "$1: O4 seen within 5 s" true "$([ $seen_ms -lt 5500 ] && echo true || echo $seen_ms)"
	eval "$3"
	from=$(now_ms)
	until_ok hellos $((hello_before + 2))
	back_ms=$(($(now_ms) - from))
	finish "$job" 120
	oracles "$1" "$job" "$result" 0 0
	merged_once "$1"
	healthy "$1" broker merger w1 w2
	figure "$4" "seen after $seen_ms ms, workers back $back_ms ms after it healed, the job done $took_ms ms later, $(field "$job" .attempts) attempts"
}

begin
until_ok hellos 2
fds_broker=$(descriptors broker) fds_worker=$(descriptors w1)
one_job
finish "$job" 60
oracles "two networks" "$job" "$result" 0 0

# ---- 8: full; the router drops everything, and nobody is told

partition fault_08_a_silent_partition "forward 0" "forward 1" 8

# ---- 9: one way

partition fault_09_what_workers_say_is_lost "ip -n $mid route add blackhole 10.97.1.1/32" "ip -n $mid route del blackhole 10.97.1.1/32" 9
if [ "$full" = full ]; then
	partition fault_09_what_workers_hear_is_lost "ip -n $mid route add blackhole 10.97.2.1/32" "ip -n $mid route del blackhole 10.97.2.1/32" 9
fi

# ---- 10: flapping

one_job 40
i=0
while [ $i -lt "$(by_length 2 12)" ]; do
	roll 40
	forward 0
	sleep $((rolled / 10)).$((rolled % 10))
	forward 1
	roll 15
	sleep $((rolled / 10)).$((rolled % 10))
	i=$((i + 1))
done
finish "$job" 120
oracles "fault_10_flapping" "$job" "$result" 0 0
merged_once "fault_10_flapping"
healthy "fault_10_flapping" broker merger w1 w2
sleep 4
after=$(descriptors broker)
is "fault_10_flapping: O5 the broker's descriptors" true "$([ "$after" -le $((fds_broker + 2)) ] && echo true || echo "$fds_broker $after")"
after=$(descriptors w1)
is "fault_10_flapping: O5 a worker's descriptors" true "$([ "$after" -le $((fds_worker + 2)) ] && echo true || echo "$fds_worker $after")"
figure 10 "$i flaps of up to 4 s, $(field "$job" .attempts) attempts for $(field "$job" .shards.total) shards"

# ---- 11: a slow link that drops what it cannot carry

if ip netns exec $mid tc qdisc add dev ${near}1 root tbf rate 8mbit burst 16kb limit 24kb 2>/dev/null; then
	ip netns exec $mid tc qdisc add dev ${far}1 root tbf rate 8mbit burst 16kb limit 24kb
	gone_before=$(grep -c 'event=gone .*role=1' "$log_broker")
	lost_before=$(grep -c 'event=attempt_lost' "$log_broker")
	one_job
	finish "$job" 120
	oracles "fault_11_a_slow_link_with_loss" "$job" "$result" 0 0
	is "fault_11_a_slow_link_with_loss: no false death" "$gone_before" "$(grep -c 'event=gone .*role=1' "$log_broker")"
	is "fault_11_a_slow_link_with_loss: no attempt is lost" "$lost_before" "$(grep -c 'event=attempt_lost' "$log_broker")"
	dropped=$(ip netns exec $mid tc -s qdisc show | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }')
	is "fault_11_a_slow_link_with_loss: packets were dropped" true "$([ "$dropped" -gt 0 ] && echo true)"
	figure 11 "8 Mbit/s, $dropped packets dropped, $took_ms ms, no death, no attempt lost"
else
	skip "fault_11_a_slow_link_with_loss" "no tbf in this kernel"
fi
plan
