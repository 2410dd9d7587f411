#!/bin/sh
# A night: a job for each folder of traces, and a report of all when they are done.
#
#     night.sh /shared/traces/2026-03-01 /shared/results/2026-03-01 [OPTION-OF-SBATCH...]
#
# To each folder below the first one a folder of results below the second, by the same name; then report.txt beside
# them. Prints the ids of the jobs, the report's last. The report depends on all of them by afterok: a job that fails
# keeps it from running, and is told by `squeue` (DependencyNeverSatisfied) and by its own log.
set -eu
[ $# -ge 2 ] || {
	echo "usage: night.sh TRACES RESULTS [OPTION-OF-SBATCH...]" >&2
	exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
traces=$(cd "$1" && pwd)
mkdir -p "$2"
results=$(cd "$2" && pwd)
shift 2

depends=afterok
for folder in "$traces"/*/; do
	[ -d "$folder" ] || continue
	folder=${folder%/}
	name=${folder##*/}
	id=$(sbatch --parsable --job-name="rundown $name" --output="$results/$name.log" "$@" \
		"$here/rundown.sbatch" "$results/$name" "$folder")
	echo "${id%%;*}"
	depends=$depends:${id%%;*}
done
[ "$depends" != afterok ] || {
	echo "$traces: no folders" >&2
	exit 1
}
id=$(sbatch --parsable --job-name="rundown report" --ntasks=1 --dependency="$depends" --output="$results/report.log" \
	"$here/report.sbatch" "$results")
echo "${id%%;*}"
