#!/bin/sh
# bench.sh - whole runs beside what a user would otherwise run, and beside reading the file. By `make bench` (a quarter
# of an hour, 15 GB of disk) and `make bench-quick` (a minute). Prints Markdown: docs/performance.md has one such run.
#
# Machines are noisy, so commands take turns within a round, a ratio is of two commands of one round, and what is told
# is the median over the rounds. Files are read once before, so that they lie in the page cache.
#
#   RD_BENCH=quick   fewer and smaller traces, 3 rounds     RD_BENCH_TMP  where traces are made (TMPDIR)
set -u
RD_BENCH=${RD_BENCH:-full}
TMPDIR=${RD_BENCH_TMP:-${TMPDIR:-/tmp}}
export TMPDIR
. "${RD_ROOT:-.}/tests/e2e/lib.sh"
tools=${RD_BUILD:-build/release}/tests
times=$scratch/times parts=$scratch/parts memory=$scratch/memory
: >"$times" >"$parts" >"$memory"
command -v dotnet-trace >/dev/null && peer=dotnet-trace || peer=

# ---- one command

# once TRACE ROUND NAME COMMAND...: a line of $times.
once()
{
	of=$1 turn=$2 command=$3
	shift 3
	"$tools/bench/measure" -o "$scratch/took" "$@" >/dev/null 2>"$scratch/err" || cat "$scratch/err" >&2
	printf '%s\t%s\t%s\t%s\n' "$of" "$turn" "$command" "$(sed -n 's/^time //p' "$scratch/took" | tr ' ' '\t')" >>"$times"
}

run="$bin/rundown run -o $scratch/r --force -q"

# What an .etlx of a run before would spare is spared nobody.
report_topn()
{
	rm -f "$2".etlx
	once "$1" "$3" "dotnet-trace report topN" dotnet-trace report "$2" topN -n 30
	rm -f "$2".etlx
}

# time_trace NAME FILE ROUNDS [many] [peer]
time_trace()
{
	name=$1 file=$2 rounds=$3 words=" ${4:-} ${5:-} "
	cat "$file" >/dev/null
	for round in $(seq "$rounds"); do
		# $run is words.
		# shellcheck disable=SC2086
		{
			once "$name" "$round" "1 worker" $run --workers 1 "$file"
			once "$name" "$round" "2 workers" $run --workers 2 "$file"
			case $words in *" many "*)
				once "$name" "$round" "2 workers, 400 shards" $run --workers 2 --shards 400 "$file" ;;
			esac
		}
		once "$name" "$round" "xxhsum -H1" xxhsum -H1 "$file"
		once "$name" "$round" "cat" cat "$file"
		case $words in *" peer "*) [ -n "$peer" ] && report_topn "$name" "$file" "$round" ;; esac
	done
	split "$name" "$file"
}

# ---- what a run is made of

# split NAME FILE: processor time of each step, from the daemons' own words, and what went through the merger.
split()
{
	cat "$2" >/dev/null
	"$tools/bench/measure" -o "$scratch/took" $run --workers 1 --log debug "$2" >/dev/null 2>"$scratch/log"
	"$bin/rundown" report "$scratch/r" --format json --stats >"$scratch/report"
	awk -v name="$1" -v bytes="$(wc -c <"$2")" -v work="$(jq -r '.work | "\(.partial_bytes) \(.merge_ns / 1e6)"' "$scratch/report")" \
		-v samples="$(jq .samples "$scratch/report")" -v cpu="$(awk '/^time/ { print $3 }' "$scratch/took")" '
		function field(name) { return match($0, " " name "=[^ ]*") ? substr($0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : "" }
		/event=parser_ends/ { ms[field("work")] += field("cpu_ms") }
		/event=finish_child_ends/ { ms["finish"] += field("cpu_ms") }
		END {
			split(work, w, " ")
			print name "\t" bytes "\t" samples "\t" cpu "\t" ms["open"] + 0 "\t" ms["decode"] + 0 "\t" w[2] "\t" ms["finish"] + 0 "\t" w[1]
		}' "$scratch/log" >>"$parts"
	cat "$2" >/dev/null
	"$tools/bench/measure" --memory -o "$scratch/took" $run --workers 2 "$2" >/dev/null 2>&1
	awk -v name="$1" '/^memory/ { kib[$2] = $3 } END { print name "\t" kib["rundown-parser"] "\t" kib["rundown-worker"] "\t" \
		kib["rundown-merger"] "\t" kib["rundown-finish"] "\t" kib["rundown-broker"] "\t" kib["rundown"] }' "$scratch/took" >>"$memory"
}

# ---- the traces

# made NAME SIZE ROUNDS WORDS GENERATOR-OPTIONS...: made, measured, removed.
made()
{
	name=$1 size=$2 rounds=$3 words=$4
	shift 4
	"$tools/gen/gen_trace" --seed 7 --lives 100 --stacks 40 --size "$size" "$@" -o "$scratch/made"
	# Word by word.
	# shellcheck disable=SC2086
	time_trace "$name" "$scratch/made" "$rounds" $words
	rm "$scratch/made"
}

packed()
{
	zstd -dqc --long=27 "$1" >"$scratch/$2"
}

"$tools/gen/gen_trace" --small --sound --seed 4 --format nettrace4 -o "$scratch/tiny"
[ "$RD_BENCH" = quick ] && few=3 || few=9
time_trace "tiny: start and end" "$scratch/tiny" "$few"
packed tests/traces/shop-small.nettrace.zst small.nettrace
time_trace "shop-small, nettrace 4" "$scratch/small.nettrace" "$few" peer
large=$shared/traces/own/shop-large.nettrace.zst
if [ -f "$large" ]; then
	packed "$large" large.nettrace
	time_trace "shop-large, nettrace 4" "$scratch/large.nettrace" "$few" many peer
	rm "$scratch/large.nettrace"
fi
if [ "$RD_BENCH" = quick ]; then
	made "made, ETL" 100M 3 "" --format etl
	made "made, ETL, XPRESS" 50M 3 "" --format etl --compress xpress
else
	made "made, ETL" 200M 5 many --format etl
	made "made, ETL, XPRESS" 200M 5 many --format etl --compress xpress
	made "made, nettrace 4" 200M 5 many --format nettrace4
	made "made, nettrace 6" 200M 5 many --format nettrace6
	made "made, ETL, huge" 4G 3 many --format etl
	made "made, nettrace 4, huge" 4G 3 many --format nettrace4
fi

# ---- what it came to

echo "$(nproc) processors: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1); $(awk '/^MemTotal/ { printf "%.0f GB of memory", $2 / 1e6 }' /proc/meminfo); $(uname -sr); load before: $(cut -d ' ' -f 1 /proc/loadavg)"
[ -n "$peer" ] || printf '\ndotnet-trace was not found.\n'
awk -f "${RD_ROOT:-.}/tests/bench/tables.awk" times="$times" parts="$parts" memory="$memory" "$times" "$parts" "$memory"
