#!/bin/sh
# The right answer, whatever the shards and workers: each trace of tests/traces/LIST and of the shared
# traces is run in several ways; every report equals the answer, all digests are one, inspect counts every event.
# RD_MATRIX="1x1 7x2 50x1 …" (shards x workers) asks for other ways.
. tests/e2e/lib.sh

differ()
{
	zstd -dcq "$1" >"$scratch/answer.json" && jq -rn --slurpfile a "$scratch/answer.json" --slurpfile r "$2" \
		${3:+--arg events 1} -f tests/e2e/compare.jq >"$scratch/differ" 2>&1 || echo "no comparison" >>"$scratch/differ"
}

# one_way TRACE ANSWER EXIT SHARDS WORKERS: says what is wrong, and adds to $scratch/digests.
one_way()
{
	rm -f "$scratch/report.json"
	"$bin/rundown" run "$1" -o "$scratch/r" --force --shards "$4" --workers "$5" -q >"$scratch/out" 2>"$scratch/err"
	status=$?
	[ $status -eq "$3" ] || {
		echo "$4 shards, $5 workers: exit code $status, not $3"
		cat "$scratch/err"
		return
	}
	# A report of an incomplete trace says so by its exit code, as the run did.
	"$bin/rundown" report "$scratch/r" --format json -o "$scratch/report.json"
	status=$?
	[ $status -eq "$3" ] || echo "$4 shards, $5 workers: the report's exit code is $status, not $3"
	differ "$2" "$scratch/report.json"
	sed "s/^/$4 shards, $5 workers: /" "$scratch/differ"
	"$bin/rundown" report "$scratch/r" --digest >>"$scratch/digests" # exits 3 for an incomplete trace
}

# one_trace NAME TRACE ANSWER EXIT
one_trace()
{
	: >"$scratch/wrong"
	: >"$scratch/digests"
	for way in ${RD_MATRIX:-1x1 7x2 50x2}; do
		one_way "$2" "$3" "$4" "${way%x*}" "${way#*x}" >>"$scratch/wrong"
	done
	check_empty "$1: the right counts" "$scratch/wrong"
	is "$1: one digest" 1 "$(sort -u "$scratch/digests" | wc -l | tr -d ' ')"
	"$bin/rundown" inspect "$2" --format json >"$scratch/inspect.json" 2>"$scratch/err"
	is "$1: inspect's exit code" "$4" $?
	differ "$3" "$scratch/inspect.json" events
	check_empty "$1: every event counted" "$scratch/differ"
}

while read -r name status; do
	case $name in '' | '#'*) continue ;; esac
	one_trace "$name" "tests/traces/$name.zst" "tests/answers/$name.json.zst" "$status"
done <tests/traces/LIST

while read -r folder name packing status; do
	[ "$packing" != - ] || packing=
	if [ -d "$shared/traces" ]; then
		one_trace "$name" "$shared/traces/$folder/$name$packing" "$shared/answers/$name.json.zst" "$status"
	else
		skip "$name" "no shared traces beside the checkout"
	fi
done <<'END'
own csc.nettrace .zst 0
own shop-large.nettrace .zst 0
own shop-crashed.nettrace .zst 3
perfview only_managed_samples.nettrace .zip 0
perfview mixed_managed_external_samples.nettrace .zip 0
perfview eventpipe-dotnetcore2.1-linux-x64-objver3.netperf .zip 0
perfview eventpipe-dotnetcore2.1-linux-x64-tracelogging.netperf .zip 0
perfview eventpipe-dotnetcore3.0-win-x64-objver4.nettrace .zip 0
perfview eventpipe-dotnetcore6.0-win-x64-executioncheckpoints.nettrace .zip 0
perfview net.4.5.2.x64.etl .zip 0
perfview gcevents.etl .zip 0
perfview gcrundownevents.etl .zip 0
perfview primitive-types.etl .zip 0
perfview SelfDescribingSingleEvent.etl - 0
etwanalyzer TraceLoggingTester.etl .zst 0
END

# An answer for each trace inside: in a folder of its own, or it would be one recording with the others.
session=diaghub-dotnetcore3.1-win-x64-diagsession
for inner in diaghub.etl diaghub.kernel.1.etl diaghub.user_injected.1.etl diaghub.user_paged.1.etl; do
	zip=$shared/traces/perfview/$session.zip
	if [ ! -f "$zip" ]; then
		skip "$inner" "no shared traces beside the checkout"
		continue
	fi
	mkdir "$scratch/$inner.d"
	unzip -q -p "$zip" "$session/$inner" >"$scratch/$inner.d/$inner"
	one_trace "$session, $inner" "$scratch/$inner.d/$inner" "$shared/answers/$session-$inner.json.zst" 0
	"$bin/rundown" inspect "$zip" --member "$inner" --format json >"$scratch/inspect.json" 2>"$scratch/err"
	differ "$shared/answers/$session-$inner.json.zst" "$scratch/inspect.json" events
	check_empty "$session, --member $inner: every event counted" "$scratch/differ"
done
plan
