#!/bin/sh
# growth.sh - how the cost grows with the trace, its shards and its stacks. By `make bench-growth` (five minutes, 5 GB of
# disk): a line for each measurement, and a plot of each series as docs/growth-*.svg.
#
# Cost is processor time of all processes, which neighbours on the machine disturb less than the clock on the wall; of
# RD_ROUNDS (3) rounds the least one is told.
set -u
. "${RD_ROOT:-.}/tests/e2e/lib.sh"
tools=${RD_BUILD:-build/release}/tests
rounds=${RD_ROUNDS:-3}
plots=${RD_PLOTS:-docs}

# cost FILE OPTIONS...: the least processor time of a run, in ms.
cost()
{
	file=$1
	shift
	cat "$file" >/dev/null
	for _ in $(seq "$rounds"); do
		"$tools/bench/measure" -o "$scratch/took" "$bin/rundown" run -q --force -o "$scratch/r" "$@" "$file" || return
		awk '/^time/ { print $3 }' "$scratch/took"
	done | sort -n | head -n 1
}

# point SERIES LINE X PER OPTIONS...: of $scratch/made; a line of the series' table, the cost per PER of what X counts.
point()
{
	series=$1 line=$2 x=$3 per=$4
	shift 4
	ms=$(cost "$scratch/made" "$@")
	echo "$line $x $ms $per" | awk '{ printf "%s\t%s\t%s\t%.4f\n", $1, $2, $3, $3 / $4 }' | tee -a "$scratch/$series"
}

gen()
{
	"$tools/gen/gen_trace" --seed 7 --lives 100 --stacks 40 -o "$scratch/made" "$@"
}

echo "# bytes: format, MB, ms, ms a MB"
for format in nettrace4 etl; do
	for size in 16 40 80 320 1280 4096; do
		gen --format $format --size ${size}M
		mb=$(($(wc -c <"$scratch/made") / 1000000))
		point bytes $format $mb $mb
	done
done
echo "# shards: format, shards of 1 GB, ms, ms a MB"
for format in nettrace4 etl; do
	gen --format $format --size 1G
	for shards in 1 4 16 64 400; do
		point shards $format $shards "$(($(wc -c <"$scratch/made") / 1000000))" --shards $shards
	done
done
echo "# stacks: all different, samples, ms, us a sample"
for stacks in 100 1000 10000 100000 1000000; do
	"$tools/gen/gen_large" stacks "$scratch/made" $stacks
	point stacks unique $stacks "$(awk "BEGIN { print $stacks / 1000 }")"
done

plot="awk -f ${RD_ROOT:-.}/tests/bench/plot.awk"
$plot -v title="Processor time of a MB, by size of the trace" -v x="MB" -v y="ms a MB" "$scratch/bytes" >"$plots/growth-bytes.svg"
$plot -v title="Processor time of a MB, by shards of 1 GB" -v x="shards" -v y="ms a MB" "$scratch/shards" >"$plots/growth-shards.svg"
$plot -v title="Processor time of a sample, each with a stack of its own" -v x="samples" -v y="us a sample" "$scratch/stacks" \
	>"$plots/growth-stacks.svg"
