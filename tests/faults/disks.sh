# Rows 15, 16 and 20: full disks under merger and broker, and disks that fail at one call.
. "${RD_ROOT:-.}/tests/faults/lib.sh"

traces 6
mkdir "$scratch/disk"
at_end()
{
	umount "$scratch/disk" 2>/dev/null
}

# ---- 15 and 16: the disk fills in the middle of a job, and somebody makes room

# full_disk NAME LOG: the state of one of them lies on $scratch/disk.
full_disk()
{
	begin
	submit $all_traces --shards 8 -o "$scratch/out/$1.rundown"
	until_shards "$job" 2
	# All that is left; the file system says how much that is.
	dd if=/dev/zero of="$scratch/disk/ballast" bs=64k 2>/dev/null
	eval "log=\$log_$2"
	until_ok line event=disk_full "$log"
	is "$1: it waits and says so" 0 $?
	sleep 0.5
	healthy "$1" broker merger w1 w2
	rm "$scratch/disk/ballast"
	finish "$job" 60
	oracles "$1" "$job" "$scratch/out/$1.rundown" 0 0
	line event=disk_has_room "$log"
	is "$1: it goes on by itself" 0 $?
	merged_once "$1"
	healthy "$1: after" broker merger w1 w2
	figure "$3" "$took_ms ms from the room to the result, $(field "$job" .attempts) attempts for $(field "$job" .shards.total) shards"
	stop_all
	rm -rf "$scratch/bs" "$scratch/ms" "$scratch"/disk/*
}
if mount -t tmpfs -o size=8m none "$scratch/disk" 2>/dev/null; then
	merger_state=$scratch/disk/ms full_disk fault_15_the_mergers_disk_is_full merger 15
	broker_state=$scratch/disk/bs full_disk fault_16_the_brokers_disk_is_full broker 16
	umount "$scratch/disk"
else
	skip "fault_15_the_mergers_disk_is_full" "no tmpfs can be mounted"
	skip "fault_16_the_brokers_disk_is_full" "no tmpfs can be mounted"
fi
unset merger_state broker_state

# ---- 20: one call fails. What was acknowledged is there, and nothing else was

# failing WHO CALL ERROR WHEN
# -D: the daemon is our child, and not the tracer.
failing()
{
	this="fault_20_$1_$2_$3_$4"
	rm -rf "$scratch/bs" "$scratch/ms" "$scratch/out/20.rundown"
	eval "in_$1=\"strace -D -o $scratch/trace -e trace=$2 -e inject=$2:error=$3:when=$4\""
	begin
	eval "in_$1="
	submit $all_traces --shards 4 -o "$scratch/out/20.rundown"
	# A supervisor would do this.
	tries=200
	while [ $tries -gt 0 ] && [ "$(patience=2s field "$job" .state)" != "done" ]; do
		for who in broker merger; do
			eval "pid=\$$who"
			! gone "$pid" || { wait "$pid"; again $who; ended=$((ended + 1)); }
		done
		# A submission that was not acknowledged is made again.
		[ -n "$job" ] || submit $all_traces --shards 4 -o "$scratch/out/20.rundown"
		sleep 0.05
		tries=$((tries - 1))
	done
	finish "$job" 30
	oracles "$this" "$job" "$scratch/out/20.rundown" 0 0
	merged_once "$this"
	hit=$(grep -c INJECTED "$scratch/trace")
	# Who never syncs is never hit.
	[ "$2" != fdatasync ] || [ "$4" -gt 8 ] || is "$this: it was hit" 1 "$hit"
	injected=$((injected + hit))
	stop_all
}
ended=0 injected=0
if strace -e inject=write:error=EIO:when=1000 true 2>"$scratch/err"; then
	if [ "$full" = full ]; then
		for who in merger broker; do
			for call in pwrite64 fdatasync; do
				for error in EIO ENOSPC; do
					for when in 1 2 3 5 8 13 21; do
						failing $who $call $error $when
					done
				done
			done
		done
	else
		failing merger pwrite64 ENOSPC 5
		failing merger fdatasync EIO 3
		failing broker pwrite64 EIO 5
		failing broker fdatasync EIO 3
	fi
	[ "$full" != full ] || failing merger writev EIO 2
	is "fault_20: calls failed" true "$([ $injected -gt 0 ] && echo true)"
	figure 20 "$injected calls failed, $ended daemons ended and were started again"
else
	skip "fault_20" "no strace that injects"
fi
plan
