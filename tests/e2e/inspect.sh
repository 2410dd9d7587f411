#!/bin/sh
# inspect of inputs that are none, cut or packed: one clear line, the right exit code, and nothing left behind.
. tests/e2e/lib.sh

mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp
export TMPDIR
trace=$scratch/shop.nettrace
zstd -dcq tests/traces/shop-small.nettrace.zst >"$trace"

# refused NAME EXIT PATTERN FILE
refused()
{
	"$bin/rundown" inspect "$4" --format json >"$scratch/out" 2>"$scratch/err"
	is "$1: exit code" "$2" $?
	is "$1: one line and nothing else" "1 0" "$(wc -l <"$scratch/err" | tr -d ' ') $(wc -c <"$scratch/out" | tr -d ' ')"
	grep -q -- "$3" "$scratch/err" && ok "$1: says why" || not_ok "$1: says why" "$scratch/err"
	grep -q -F -- "$4" "$scratch/err" && ok "$1: names the file" || not_ok "$1: names the file" "$scratch/err"
}

refused "missing" 1 "no such file" "$scratch/nowhere"
mkdir "$scratch/hollow"
refused "a folder without a trace" 1 "a folder without a trace" "$scratch/hollow"
: >"$scratch/empty"
refused "empty" 1 "an empty file" "$scratch/empty"
refused "not a trace" 1 "not a trace" tests/run.sh
refused "a device" 1 "device" /dev/null
gzip -c "$trace" >"$scratch/broken.gz"
printf 'damage' | dd of="$scratch/broken.gz" bs=1 seek=20000 conv=notrunc 2>/dev/null
refused "a broken archive" 1 "the archive cannot be unpacked" "$scratch/broken.gz"
: | gzip >"$scratch/empty.gz"
refused "an empty archive" 1 "an empty file, compressed" "$scratch/empty.gz"
gzip -c tests/run.sh >"$scratch/text.gz"
refused "an archive without a trace" 1 "no trace" "$scratch/text.gz"
{ head -c 8 "$trace" && printf '\024\000\000\000!FastSerialization.1' && head -c 500 /dev/zero; } >"$scratch/nothing"
refused "a header and nothing" 1 "" "$scratch/nothing"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	cp "$trace" "$scratch/secret" && chmod 755 "$scratch" && chmod 600 "$scratch/secret"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$bin/rundown" inspect "$scratch/secret" >"$scratch/out" 2>"$scratch/err"
	is "unreadable: exit code" 1 $?
	grep -q "Permission denied" "$scratch/err" && ok "unreadable: says why" || not_ok "unreadable: says why" "$scratch/err"
else
	skip "unreadable" "needs root and setpriv"
fi

# ---- packed and plain are the same

"$bin/rundown" inspect "$trace" --format json | jq 'del(.path, .member)' >"$scratch/plain.json"
gzip -c "$trace" >"$scratch/shop.gz"
for packed in tests/traces/shop-small.nettrace.zst "$scratch/shop.gz"; do
	"$bin/rundown" inspect "$packed" --format json | jq 'del(.path, .member)' | diff "$scratch/plain.json" - >"$scratch/differ" 2>&1
	check_empty "${packed##*.}: as if it were plain" "$scratch/differ"
done
is "nothing is left in the scratch folder" "" "$(ls -A "$TMPDIR")"

"$bin/rundown" inspect "$trace" -o "$scratch/text" && ok "-o" || not_ok "-o"
grep -q "^format *nettrace 4$" "$scratch/text" && ok "text: the format" || not_ok "text: the format" "$scratch/text"
grep -q "^samples *9,065 (3,660 managed, 5,405 external)$" "$scratch/text" && ok "text: the samples" || not_ok "text: the samples" "$scratch/text"
grep -q " 9,065  Microsoft-DotNETCore-SampleProfiler/0/0  ThreadSample$" "$scratch/text" &&
	ok "text: events with their names" || not_ok "text: events with their names" "$scratch/text"

# ---- who, on what, how often, how complete, in how many pieces

# told NAME FILTER WANTED: of the plain trace's JSON
told()
{
	is "told: $1" "$3" "$(jq -c "$2" "$scratch/plain.json")"
}
told "system and architecture" '[.processes[] | [.pid, .system, .architecture, .samples]]' '[[23250,"Linux","x64",9065]]'
told "runtime" '[.runtimes[] | [.clr, .version, .start_rundown, .end_rundown]]' '[[0,"10.0.1226.42308","none","complete"]]'
told "methods by what they say" '.runtimes[0].methods' '{"load":0,"unload":2063,"dcstart":0,"dcend":3349}'
told "markers" '.runtimes[0].markers' '{"start_init":0,"start_complete":0,"end_init":1,"end_complete":1}'
told "the whole rundown" .rundown '{"start":"none","end":"complete"}'
told "keyframes" '[.keyframes[] | [.where, .methods, .runtimes, .begun, .complete]]' '[["end",3349,1,1,1]]'
told "the rate" '[.sampling_expected_ns, .sampling_seen_ns > 1000000, .sampling_seen_ns < 10000000]' '[1000000,true,true]'
told "the end is the start and the duration" '.end' '"2026-11-30T20:48:28.680511961Z"'
told "providers sum to all events" '([.providers[].events] | add) == .events_total and ([.providers[].bytes] | add) == .payload_bytes' true
told "one shard" '[.shards.count, .shards.least_bytes == .shards.most_bytes]' '[1,true]'
told "nothing is lacking" .lacks '[]'
is "--shards" '[7,true]' "$("$bin/rundown" inspect "$trace" --shards 7 --format json | jq -c '[.shards.count, .shards.most_bytes < 2 * .shards.least_bytes]')"
is "--shard-size" 5 "$("$bin/rundown" inspect "$trace" --shard-size 1MB --format json | jq .shards.count)"
is "--workers" 3 "$("$bin/rundown" inspect "$trace" --workers 3 --format json | jq .shards.workers)"
"$bin/rundown" inspect "$trace" --shards 2 --shard-size 1MB >"$scratch/out" 2>"$scratch/err"
is "--shards and --shard-size" 2 $?
"$bin/rundown" inspect tests/traces/linux-cpu-v6.nettrace.zst --format json >"$scratch/six.json"
is "nettrace 6: the header's words" '["HardwareThreadCount","2"]' "$(jq -c '.header[0] | [.key, .value]' "$scratch/six.json")"
is "nettrace 6: the process" '[[23531,"shop",7924]]' "$(jq -c '[.processes[] | [.pid, .name, .samples]]' "$scratch/six.json")"
grep -q "^rundown *start none, end complete$" "$scratch/text" && ok "text: the rundown" || not_ok "text: the rundown" "$scratch/text"
grep -q "and [0-9]* more; .rundown events. tells all$" "$scratch/text" && ok "text: a long list is cut" || not_ok "text: a long list is cut" "$scratch/text"

if [ -d "$shared/traces" ]; then
	"$bin/rundown" inspect "$shared/traces/perfview/net.4.5.2.x64.etl.zip" --format json >"$scratch/etl.json"
	zstd -dcq "$shared/answers/net.4.5.2.x64.etl.json.zst" >"$scratch/answer.json"
	is "ETL: samples by process" true "$(jq --slurpfile a "$scratch/answer.json" '
		def by_pid: map(select(.samples > 0)) | group_by(.pid) | map([.[0].pid, (map(.samples) | add)]);
		(.processes | by_pid) == ($a[0].processes | map(select(.pid >= 0)) | by_pid)' "$scratch/etl.json")"
	is "ETL: the session" '[["Relogger",9200,65536,360]]' \
		"$(jq -c '[.sessions[] | [.name, .os_build, .buffer_bytes, .buffers_written]]' "$scratch/etl.json")"
	is "ETL: the machine" '[3592,"BRIANROB-W8"]' "$(jq -c '[.machine.cpu_mhz, .machine.host]' "$scratch/etl.json")"
	is "ETL: one of two runtimes was listed" '{"start":"none","end":"partial"}' "$(jq -c .rundown "$scratch/etl.json")"
	is "ETL: the interval" '[1000000,true]' "$(jq -c '[.sampling_expected_ns, (.sampling_seen_ns - 1000000 | fabs) < 50000]' "$scratch/etl.json")"
	"$bin/rundown" inspect "$shared/traces/perfview/gcevents.etl.zip" --format json >"$scratch/etl.json"
	is "ETL: samples are lacking" '"PROFILE"' "$(jq -c '.lacks[] | select(.what == "samples") | .keywords' "$scratch/etl.json")"
else
	skip "ETL: who and on what" "no shared traces beside the checkout"
fi

# ---- a cut file is told up to its cut

size=$(wc -c <"$trace" | tr -d ' ')
for part in 4 2; do
	head -c $((size / part)) "$trace" >"$scratch/cut"
	"$bin/rundown" inspect "$scratch/cut" --format json >"$scratch/out" 2>"$scratch/err"
	is "cut at 1/$part: exit code" 3 $?
	is "cut at 1/$part: incomplete" "false" "$(jq .complete "$scratch/out")"
	is "cut at 1/$part: where" "true" "$(jq ".cut_at > 0 and .cut_at <= $((size / part)) and .samples > 0" "$scratch/out")"
	is "cut at 1/$part: no key has more events than the whole" 0 \
		"$(jq --slurpfile w "$scratch/plain.json" '[.events | to_entries[] | select(.value > ($w[0].events[.key] // 0))] | length' "$scratch/out")"
done
# ---- what a trace does not say is no number

old=$(ls "$shared"/traces/perfview/eventpipe-dotnetcore2.0-linux-objver2.netperf* 2>/dev/null | head -n 1)
if [ -n "$old" ]; then
	"$bin/rundown" inspect "$old" >"$scratch/out" 2>"$scratch/err"
	is "nothing is of pid 0 or of 0 CPUs" "0 1 1" "$(grep -c 'pid 0\| 0 CPUs' "$scratch/out") $(grep -c 'CPUs not known' "$scratch/out") $(
		grep -c 'of a process that the trace does not name' "$scratch/out")"
else
	skip "nothing is of pid 0 or of 0 CPUs" "no shared traces beside the checkout"
fi

plan
