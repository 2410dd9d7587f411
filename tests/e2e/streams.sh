#!/bin/sh
# However many shards: the merger keeps none of them in memory, and neither does the finish.
. tests/e2e/lib.sh

# What a sanitizer sets aside is no measure.
if ldd "$bin/rundown" 2>/dev/null | grep -q 'libasan\|libubsan'; then
	skip "memory" "a sanitizer's own is too much of it"
	plan
	exit
fi

# anonymous PID: private memory of a process, kB; nothing when it is gone.
anonymous()
{
	sed -n 's/^RssAnon:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null
}

# merger_of PID: the merger that this run started.
merger_of()
{
	for p in /proc/[0-9]*/stat; do
		{ read -r line <"$p"; } 2>/dev/null || continue
		case $line in
		*" (rundown-merger) "[A-Z]" $1 "*)
			echo "${line%% *}"
			return
			;;
		esac
	done
}

# measure TRACE SHARDS: sets $finish and $merger, kB, and $digest.
measure()
{
	"$bin/rundown" run "$1" -o "$scratch/r" --force --shards "$2" --workers 1 --log debug -q 2>"$scratch/log" &
	run=$! merger=0 pid=
	while kill -0 $run 2>/dev/null; do
		[ -n "$pid" ] || pid=$(merger_of $run)
		now=$([ -z "$pid" ] || anonymous "$pid")
		[ "${now:-0}" -le $merger ] || merger=$now
		sleep 0.05
	done
	wait $run || cat "$scratch/log" >&2
	finish=$(sed -n 's/.*event=finish_child_ends .*step=1 .*peak_bytes=\([0-9]*\).*/\1/p' "$scratch/log")
	finish=$((${finish:-0} / 1024))
	digest=$("$bin/rundown" report "$scratch/r" --digest)
}

# compare NAME TRACE FEW MANY: many shards take at most 1.3 times the memory of few, and 1 MB for what no trace decides.
compare()
{
	measure "$2" "$3"
	few_finish=$finish few_merger=$merger few_digest=$digest
	measure "$2" "$4"
	echo "# $1, $3 and $4 shards: finish $few_finish and $finish kB, merger $few_merger and $merger kB"
	[ $finish -gt 0 ] && [ $finish -le $((few_finish * 13 / 10)) ]
	is "$1: the finish of $4 shards is as large as that of $3" 0 $?
	[ $merger -le $((few_merger * 13 / 10 + 1024)) ]
	is "$1: the merger of $4 shards is as large as that of $3" 0 $?
	is "$1: one digest" "$few_digest" "$digest"
}

zstd -dqc tests/traces/shop-verbose.nettrace.zst >"$scratch/shop-verbose.nettrace"
compare shop-verbose "$scratch/shop-verbose.nettrace" 10 200

# It takes its time: where somebody asks for it.
large=$shared/traces/own/shop-large.nettrace.zst
if [ "${RD_LARGE:-}" = full ] && [ -f "$large" ]; then
	zstd -dqc "$large" >"$scratch/shop-large.nettrace"
	compare shop-large "$scratch/shop-large.nettrace" 10 1000
	"$bin/rundown" run "$scratch/shop-large.nettrace" -o "$scratch/limited" --finish-memory 8MiB -q 2>"$scratch/err"
	is "a finish above its limit: exit code" 1 $?
	is "a finish above its limit says so" \
		"rundown run: the finish needs more than 8.4 MB of memory; --finish-memory SIZE allows more" \
		"$(cat "$scratch/err")"
	[ ! -e "$scratch/limited" ]
	is "a finish above its limit leaves nothing" 0 $?
else
	skip "shop-large in 1,000 shards" "make check-large, with the shared traces beside the checkout"
fi

# ---- a limit of memory

"$bin/rundown" run "$scratch/shop-verbose.nettrace" -o "$scratch/limited" --finish-memory 1 -q 2>"$scratch/err"
is "a limit that nothing fits is refused" 2 $?
grep -q "finish-memory: '1' is too small" "$scratch/err" || not_ok "and named" "$scratch/err"
"$bin/rundown" run "$scratch/shop-verbose.nettrace" -o "$scratch/limited" --finish-memory 1GB -q 2>"$scratch/err"
is "a limit that is far away" 0 $?

plan
