# Row 35: workers and merger reach the broker through a proxy that carries badly (fault_proxy.c), with keys.
port=$((20000 + $$ % 20000))
endpoint=tcp://127.0.0.1:$port
. "${RD_ROOT:-.}/tests/faults/lib.sh"

keys=$scratch/keys
"$bin/rundown" keys "$keys" >/dev/null
broker_options="--keys $keys" merger_options="--keys $keys/merger" worker_options="--keys $keys/worker" client_options="--keys $keys/client"
traces 10
begin_broker

begin_proxy()
{
	roll 100000
	"${RD_BUILD:-build/release}/tests/faults/fault_proxy" $((port + 1)) $port "$rolled" "$1" >"$scratch/proxy" 2>"$scratch/err" &
	proxy=$!
	all="$all $proxy"
}
end_proxy()
{
	kill $proxy
	wait $proxy 2>/dev/null
}
# begin_job NAME FAULTS SHARDS: through a proxy that carries so.
begin_job()
{
	what=$1 bad=$2 result=$scratch/out/$1.rundown near=$endpoint
	begin_proxy "$bad"
	endpoint=tcp://127.0.0.1:$((port + 1))
	begin_merger
	begin_worker w1
	begin_worker w2
	endpoint=$near
	submit $all_traces --shards "$3" -o "$result"
}
end_job()
{
	finish "$job" 180
	oracles "$what" "$job" "$result" 0 0
	healthy "$what" broker merger w1 w2
	attempts=$(field "$job" .attempts) total=$(field "$job" .shards.total)
	for victim in merger w1 w2; do
		kill_hard $victim
	done
	end_proxy
	merged_once "$what"
}
through()
{
	begin_job "$@"
	end_job
	figure 35 "$bad: $(cat "$scratch/proxy"); $attempts attempts for $total shards and 10 inputs, $took_ms ms"
	is "$what: the proxy carried it, and badly" true "$(grep -q '[1-9]' "$scratch/proxy" && echo true)"
}

if [ "$full" = full ]; then
	for bad in delay split stall cut replay; do
		through "fault_35_$bad" $bad 20
	done
fi
through fault_35_all_at_once delay,split,stall,cut,replay "$(by_length 4 20)"

# A bit of a frame's length lets its reader wait for what never comes, until the way ends or a lease does.
begin_job fault_35_bits_flip flip "$(by_length 8 20)"
sleep "$(by_length 2 20)"
end_proxy
flipped=$(cat "$scratch/proxy")
begin_proxy delay
end_job
figure 35 "flip: $flipped; then a sound way: done $took_ms ms later, $attempts attempts for $total shards and 10 inputs"
plan
