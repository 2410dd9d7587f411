# Rows 23, 24 and 26: shards that kill their parsers, a limit of memory from outside, traces that change under a job.
. "${RD_ROOT:-.}/tests/faults/lib.sh"

zstd -dcq tests/traces/shop-verbose.nettrace.zst >"$scratch/in/p.nettrace"
# Too short to have that byte.
zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/in/q.nettrace"
"$bin/rundown" run -q "$scratch/in/p.nettrace" -o "$scratch/out/p.run"
"$bin/rundown" run -q "$scratch/in/q.nettrace" -o "$scratch/out/q.run"
so=$(cd "${RD_BUILD:-build/release}" && pwd)/tests/preload/poison.so
at=$(($(wc -c <"$scratch/in/p.nettrace") * 3 / 4))

# ---- 23

# poisoned HOW ACT WHY OPTIONS...
poisoned()
{
	how=$1 act=$2 why=$3
	shift 3
	rm -rf "$scratch/bs" "$scratch/ms"
	in_worker="env LD_PRELOAD=$so ${act:+RD_POISON_ACT=$act} RD_POISON_AT=$at"
	worker_options=$*
	begin
	submit "$scratch/in/p.nettrace" --shards 10 -o "$scratch/out/$how.rundown"
	poisoned_job=$job
	# The rest of the queue goes on: of this trace no parser reads that byte.
	submit "$scratch/in/q.nettrace" --shards 2 -o "$scratch/out/$how-q.rundown"
	finish "$poisoned_job" 60
	oracles "fault_23_poison_$how" "$poisoned_job" "$scratch/out/$how.rundown" 1 3
	is "fault_23_poison_$how: exactly three attempts" 3 "$(grep -c "event=attempt_lost job=$poisoned_job " "$log_broker")"
	grep "event=attempt_lost job=$poisoned_job " "$log_broker" | grep -v "$why" >"$scratch/others"
	check_empty "fault_23_poison_$how: why" "$scratch/others"
	is "fault_23_poison_$how: the log names the shard" 1 "$(grep -c "event=quarantined job=$poisoned_job .*shard=[0-9]" "$log_broker")"
	is "fault_23_poison_$how: the report names its bytes" true "$("$bin/rundown" report "$scratch/out/$how.rundown" --format json |
		jq ".trust.complete == false and (.trust.quarantined | length) == 1 and
			([.trust.quarantined[] | .. | numbers] | min <= $at and max >= $at)")"
	is "fault_23_poison_$how: the others' samples are there" true "$("$bin/rundown" report "$scratch/out/$how.rundown" --format json |
		jq ".samples > $("$bin/rundown" report "$scratch/out/p.run" --format json | jq .samples) * 7 / 10")"
	figure 23 "$how: $took_ms ms until the job ended with exit code $code"
	finish "$job" 60
	wanted=$(digest "$scratch/out/q.run")
	oracles "fault_23_poison_$how: another job" "$job" "$scratch/out/$how-q.rundown" 0 0
	healthy "fault_23_poison_$how" broker merger w1 w2
	stop_all
	in_worker='' worker_options=
}
if sanitized; then
	skip "fault_23_poison" "the sanitizers preload libraries of their own"
else
	poisoned signal "" "killed by SIGILL"
	[ "$full" != full ] || poisoned hang spin "killed by SIG\|said nothing" --patience 1s
	poisoned memory eat "killed by SIG" --memory 256MiB
	[ "$full" != full ] || poisoned exit exit "without\|before\|its answer\|no "
fi

# ---- 24: a cgroup kills the parser, not the host

cgroup=/sys/fs/cgroup/memory/rundown-test-$$
at_end()
{
	rmdir "$cgroup" 2>/dev/null
}
if sanitized; then
	skip "fault_24_cgroup" "the sanitizers preload libraries of their own"
elif mkdir "$cgroup" 2>/dev/null && echo $((96 << 20)) >"$cgroup/memory.limit_in_bytes" 2>/dev/null; then
	rm -rf "$scratch/bs" "$scratch/ms"
	cat >"$scratch/in-cgroup" <<-END
		echo \$\$ >"$cgroup/cgroup.procs"
		exec "\$@"
	END
	in_worker="sh $scratch/in-cgroup env LD_PRELOAD=$so RD_POISON_ACT=eat RD_POISON_AT=$at"
	begin
	submit "$scratch/in/p.nettrace" --shards 10 -o "$scratch/out/24.rundown"
	finish "$job" 120
	oracles "fault_24_cgroup" "$job" "$scratch/out/24.rundown" 1 3
	is "fault_24_cgroup: merger and broker are unharmed" "" "$(gone $broker && echo broker; gone $merger && echo merger)"
	figure 24 "$took_ms ms in a cgroup of 96 MiB; $(grep -c event=attempt_lost "$log_broker") attempts were lost"
	stop_all
	in_worker=
else
	skip "fault_24_cgroup" "no cgroup of memory can be made"
fi

# ---- 26: the trace is cut, rewritten or replaced while its job runs

# changed NAME COMMAND: with $t, the trace.
changed()
{
	rm -rf "$scratch/bs" "$scratch/ms" "$scratch/out/26.rundown"
	t=$scratch/in/t.nettrace
	cp "$scratch/in/p.nettrace" "$t"
	begin_broker
	begin_merger
	begin_worker w1
	submit "$t" --shards 40 -o "$scratch/out/26.rundown"
	until_shards "$job" 2
	kill -STOP $w1
	eval "$2"
	kill -CONT $w1
	finish "$job" 60
	is "fault_26_$1: exit code" 1 $code
	is "fault_26_$1: one line that names the trace and why" 1 "$(grep -c "t.nettrace.*chang\|chang.*t.nettrace" "$scratch/err")"
	[ "$(grep -c 'chang' "$scratch/err")" = 1 ] || sed 's/^/# /' "$scratch/err"
	is "fault_26_$1: no mix" "" "$(ls -d "$scratch/out/26.rundown" 2>/dev/null)"
	healthy "fault_26_$1" broker merger w1
	stop_all
}
changed cut 'truncate -s 2000000 "$t"'
[ "$full" != full ] || changed rewritten 'cp "$scratch/in/p.nettrace" "$t.new"; cat "$t.new" >"$t"'
changed replaced 'cp "$scratch/in/q.nettrace" "$t.new"; mv "$t.new" "$t"'
[ "$full" != full ] || changed grown 'head -c 100000 "$scratch/in/q.nettrace" >>"$t"'
plan
