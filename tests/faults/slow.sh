# Rows 6 and 7: a worker that is stopped, a parser that spins.
. "${RD_ROOT:-.}/tests/faults/lib.sh"

traces 6
broker_options="--lease 3s --progress 200ms --log debug"

# ---- 6: SIGSTOP of a worker in the middle of a shard; a second attempt wins, and the late one is refused

begin
until_ok line 'event=hello .*role=1' "$log_broker"
submit $all_traces --shards 6 -o "$scratch/out/6.rundown"
until_shards "$job" 3
kill -STOP $w1
finish "$job" 60
oracles "fault_06_a_straggler" "$job" "$scratch/out/6.rundown" 0 0
is "fault_06_a_straggler: O4 in time" true "$([ $took_ms -lt 20000 ] && echo true || echo $took_ms)"
kill -CONT $w1
second=$(grep -c 'event=second_attempt' "$log_broker")
lost=$(grep -c 'event=attempt_lost' "$log_broker")
is "fault_06_a_straggler: a second attempt, or the lease of the first" true "$([ $((second + lost)) -gt 0 ] && echo true)"
# What it still says is about nothing; then it works on.
submit $all_traces --shards 6 -o "$scratch/out/6b.rundown"
finish "$job" 60
oracles "fault_06_a_straggler: who was late works on" "$job" "$scratch/out/6b.rundown" 0 0
merged_once "fault_06_a_straggler"
healthy "fault_06_a_straggler" broker merger w1 w2
figure 6 "$took_ms ms with a worker stopped, $second second attempts, $lost lost leases"
stop_all

# ---- 7: the parser spins, the worker's socket is alive

if sanitized; then
	skip "fault_07_a_worker_that_spins" "the sanitizers preload libraries of their own"
else
	so=$(cd "${RD_BUILD:-build/release}" && pwd)/tests/preload/poison.so
	rm -rf "$scratch/bs" "$scratch/ms"
	zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/in/p.nettrace"
	broker_options="--lease 1s --progress 200ms --attempts 2"
	in_worker="env LD_PRELOAD=$so RD_POISON_ACT=spin RD_POISON_AT=$(($(wc -c <"$scratch/in/p.nettrace") / 2))"
	begin
	submit "$scratch/in/p.nettrace" --shards 5 -o "$scratch/out/7.rundown"
	finish "$job" 60
	oracles "fault_07_a_worker_that_spins" "$job" "$scratch/out/7.rundown" 1 3
	is "fault_07_a_worker_that_spins: its leases ended" 2 "$(grep -c 'event=attempt_lost .*no progress for' "$log_broker")"
	is "fault_07_a_worker_that_spins: O4 in time" true "$([ $took_ms -lt 20000 ] && echo true || echo $took_ms)"
	healthy "fault_07_a_worker_that_spins" broker merger w1 w2
	figure 7 "$took_ms ms until two leases of 1 s had ended and the rest was done"
fi
plan
