#!/bin/sh
# Decoding and finishing cost no more instructions than they did: tests/bench/instructions holds what callgrind counted.
# Time would be another one on every machine; instructions of one compiler and C library are the same on all.
#
# `make renew-instructions` writes the counts anew, when a change is worth what it costs; its commit says so.
. tests/e2e/lib.sh

kept=tests/bench/instructions
steps=${RD_BUILD:-build/release}/tests/bench/bench_steps
gen=${RD_BUILD:-build/release}/tests/gen/gen_trace
most_percent=5

# What the counts hang on besides our code.
with="gcc $(gcc -dumpversion 2>/dev/null), $(getconf GNU_LIBC_VERSION), $(uname -m)"

why=
command -v valgrind >/dev/null || why="no valgrind"
case ${RD_BUILD:-build/release} in */release) ;; *) why="a build of other options" ;; esac
if [ -z "$why" ] && [ -z "${RD_RENEW:-}" ] && [ "$with" != "$(sed -n 's/^# with //p' $kept)" ]; then
	why="the counts are of $(sed -n 's/^# with //p' $kept)"
fi

# count FUNCTION TRACE: instructions of all calls of it.
count()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="$1" "$steps" --preliminary --finish \
		--rounds 1 "$2" 2>&1 | sed -n 's/.*Collected : //p'
}

# gate STEP FUNCTION NAME TRACE
gate()
{
	case=$1-of-$3
	[ -z "$why" ] || {
		skip "$case" "$why"
		return
	}
	now=$(count "$2" "$4")
	[ -z "${RD_RENEW:-}" ] || {
		echo "$case $now" >>"$scratch/new"
		return
	}
	was=$(awk -v name="$case" '$1 == name { print $2 }' $kept)
	if [ -n "$now" ] && [ -n "$was" ] && [ "$now" -gt 1000000 ] && [ "$now" -le $((was + was * most_percent / 100)) ]; then
		ok "$case: $now, $was were kept"
	else
		echo "${now:-no} instructions, ${was:-none} kept: more than $most_percent % more. If it is worth it: make renew-instructions" \
			>"$scratch/over"
		not_ok "$case" "$scratch/over"
	fi
}

for trace in shop-small linux-cpu-v6; do
	zstd -dqc "tests/traces/$trace.nettrace.zst" >"$scratch/$trace"
done
"$gen" --seed 7 --format etl --size 4M --samples 3000 --lives 600 --noise 3000 -o "$scratch/made-etl"
echo "# with $with" >"$scratch/new"
for trace in shop-small linux-cpu-v6 made-etl; do
	gate decode rd_shard_decode $trace "$scratch/$trace"
	gate finish rd_finish $trace "$scratch/$trace"
done
[ -z "${RD_RENEW:-}" ] || {
	[ -z "$why" ] || { echo "$why" >&2 && exit 1; }
	cp "$scratch/new" $kept
	exit
}
plan
