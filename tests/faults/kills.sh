# Rows 1 to 5: kill -9 of workers, merger, broker, of all of them.
. "${RD_ROOT:-.}/tests/faults/lib.sh"

traces 10
jobs=0
pace_ms=90 least_ms=10 shards_each=5
# one_job: of fifty shards; $job, $result.
one_job()
{
	jobs=$((jobs + 1))
	result=$scratch/out/$jobs.rundown
	submit $all_traces --shards "$shards_each" -o "$result"
}
# kill_some N NAMES: as many kills, at random moments, while the jobs run; a job that ends is checked, and another begins.
kill_some()
{
	n=$1 killed=0
	shift
	while [ $killed -lt "$n" ]; do
		roll "$pace_ms"
		sleep "$(printf '0.%03d' $((rolled + least_ms)))"
		roll $#
		shift_to=$rolled
		i=0
		for name; do
			[ $i -ne "$shift_to" ] || break
			i=$((i + 1))
		done
		kill_hard "$name"
		killed=$((killed + 1))
		again "$name"
		[ $((killed % 10)) -ne 0 ] || [ "$(patience=3s field "$job" .state)" != "done" ] || {
			ended_early="$ended_early $job=$result"
			one_job
		}
	done
}
# check_early NAME: the jobs that ended among the kills.
check_early()
{
	for pair in $ended_early; do
		code=0
		oracles "$1" "${pair%%=*}" "${pair#*=}" 0 0
	done
	ended_early=
}

begin
one_job
finish "$job" 60
undisturbed_ms=$took_ms
oracles "undisturbed" "$job" "$result" 0 0
fds=$(descriptors broker)

# ---- 1

one_job
kill_some "$(by_length 10 200)" w1 w2
finish "$job" 120
oracles "fault_01_workers_are_killed" "$job" "$result" 0 0
check_early "fault_01_workers_are_killed"
healthy "fault_01_workers_are_killed" broker merger w1 w2
after=$(descriptors broker)
is "fault_01_workers_are_killed: O5 descriptors of the broker do not grow" true "$([ "$after" -le $((fds + 6)) ] && echo true || echo "$fds $after")"
figure 1 "$killed kills of workers, $(field "$job" .attempts) attempts for $(field "$job" .shards.total) shards, $((undisturbed_ms)) ms undisturbed"

# ---- 2 and 3: of merger and broker at random; at their labelled points tests/broker and tests/merger do it

one_job
until_shards "$job" 2
kill_some "$(by_length 5 50)" merger
finish "$job" 120
oracles "fault_02_the_merger_is_killed" "$job" "$result" 0 0
check_early "fault_02_the_merger_is_killed"
figure 2 "$killed kills of the merger, $(cat "$scratch"/log/*-merger | grep -c 'event=merged .*duplicate=1') replays answered as duplicates"

one_job
until_shards "$job" 2
kill_some "$(by_length 5 50)" broker
finish "$job" 120
oracles "fault_03_the_broker_is_killed" "$job" "$result" 0 0
check_early "fault_03_the_broker_is_killed"
one_job
until_shards "$job" 2
kill_hard broker
from=$(now_ms)
again broker
back()
{
	[ "$(field "$job" .workers)" = 2 ]
}
until_ok back
took_ms=$(($(now_ms) - from))
is "fault_03_the_broker_is_killed: O4 the workers are back within 10 s" true "$([ $took_ms -lt 10000 ] && echo true || echo $took_ms)"
figure 3 "$killed kills of the broker; both workers back after $took_ms ms"
finish "$job" 120
oracles "fault_03_the_broker_is_killed: the job of that moment" "$job" "$result" 0 0

# ---- everybody, at random; one job of fifty large shards has to live through all of it

if [ "$full" = full ]; then
	few=$all_traces few_wanted=$wanted
	traces 50
	shards_each=1
fi
one_job
until_shards "$job" 2
pace_ms=20 jobs_before=$jobs
kill_some "$(by_length 20 200)" broker merger w1 w2
finish "$job" 120
oracles "fault_04_anybody_is_killed" "$job" "$result" 0 0
check_early "fault_04_anybody_is_killed"
figure 4 "$killed kills over all daemons within $((jobs - jobs_before + 1)) job(s), $(field "$job" .attempts) attempts for $(field "$job" .shards.total) shards"

if [ "$full" = full ]; then
	all_traces=$few wanted=$few_wanted shards_each=5
fi

# ---- 4: all at once; what is merged is not decoded again

i=0
while [ $i -lt "$(by_length 2 20)" ]; do
	one_job
	until_shards "$job" $((5 + i))
	for name in broker merger w1 w2; do
		eval "kill -9 \$$name"
	done
	for name in broker merger w1 w2; do
		kill_hard $name
		again $name
	done
	finish "$job" 120
	oracles "fault_04_all_at_once" "$job" "$result" 0 0
	# One attempt a task (ten of them open the inputs), and what was in hand or uncommitted at the kill.
	is "fault_04_all_at_once: what is merged is not decoded again" true \
		"$(field "$job" '.attempts <= .shards.total + .inputs + 8')"
	i=$((i + 1))
done
merged_once "fault_04_all_at_once"
healthy "fault_04_all_at_once" broker merger w1 w2

# ---- 5: eleven workers in a hundred

if [ "$full" = full ] && ! sanitized; then
	for name in w3 w4 w5 w6 w7 w8 w9; do
		begin_worker $name
	done
	best=
	worst=
	for round in 1 2 3; do
		one_job
		finish "$job" 120
		best="$best $took_ms"
		one_job
		from=$(now_ms)
		until_shards "$job" 10
		# One of nine, and it does not come back.
		kill_hard w$((10 - round))
		before=$(($(now_ms) - from))
		finish "$job" 120
		worst="$worst $((before + took_ms))"
		begin_worker w$((10 - round))
		oracles "fault_05_eleven_percent_of_the_workers" "$job" "$result" 0 0
	done
	figure 5 "ms of three jobs whole:$best; with one of nine workers killed:$worst"
else
	skip "fault_05_eleven_percent_of_the_workers" "takes RD_FAULTS=full"
fi
plan
