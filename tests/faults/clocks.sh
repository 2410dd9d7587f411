# Row 25: clocks of the wall that are wrong, run fast, or jump back. Nobody may mind.
. "${RD_ROOT:-.}/tests/faults/lib.sh"

for so in /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1; do
	[ ! -e "$so" ] || break
done
if [ ! -e "$so" ] || sanitized; then
	skip "fault_25" "no libfaketime, or sanitizers that preload their own"
	plan
	exit
fi
# The monotonic clock stays, nobody sets that; and so do the times of files.
faked="env LD_PRELOAD=$so FAKETIME_DONT_FAKE_MONOTONIC=1 DONT_FAKE_MONOTONIC=1 FAKETIME_NO_CACHE=1 NO_FAKE_STAT=1"
traces 6

# skewed NAME: a job, with the clocks as they are set.
skewed()
{
	rm -rf "$scratch/bs" "$scratch/ms"
	broker_options="--lease 5s"
	begin
	submit $all_traces --shards 8 -o "$scratch/out/$1.rundown"
	until_shards "$job" 3
	eval "$2"
	finish "$job" 60
	oracles "fault_25_$1" "$job" "$scratch/out/$1.rundown" 0 0
	is "fault_25_$1: no lease changes" 0 "$(grep -c 'event=attempt_lost' "$log_broker")"
	is "fault_25_$1: one attempt a task" true "$(field "$job" '.attempts == .shards.total + .inputs')"
	healthy "fault_25_$1" broker merger w1 w2
	figure 25 "$1: $took_ms ms, no lease lost"
	stop_all
}
in_broker="$faked FAKETIME=+1h" in_merger="$faked FAKETIME=-1h" skewed an_hour_apart :
in_broker="$faked FAKETIME=+0x10" in_worker=$in_broker skewed ten_times_too_fast :
echo "-3600" >"$scratch/clock"
in_broker="$faked FAKETIME_TIMESTAMP_FILE=$scratch/clock" in_merger=$in_broker in_worker=$in_broker \
	skewed forwards 'echo "+3600" >"$scratch/clock"'
echo "+3600" >"$scratch/clock"
in_broker="$faked FAKETIME_TIMESTAMP_FILE=$scratch/clock" in_merger=$in_broker in_worker=$in_broker \
	skewed backwards 'echo "-3600" >"$scratch/clock"'
plan
