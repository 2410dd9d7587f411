#!/bin/sh
# events: the catalogue of what a file holds, its filters and orders, and the names of documentation.
. tests/e2e/lib.sh

mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp
export TMPDIR
trace=$scratch/shop.nettrace
zstd -dcq tests/traces/shop-small.nettrace.zst >"$trace"

"$bin/rundown" events "$trace" --format json >"$scratch/events.json"
is "exit code" 0 $?
"$bin/rundown" inspect "$trace" --format json >"$scratch/inspect.json"
is "as many events of each key as inspect has" "true" \
	"$(jq --slurpfile i "$scratch/inspect.json" '([.kinds[] | {key, value: .events}] | from_entries) == $i[0].events' "$scratch/events.json")"
is "as many bytes as inspect has" "true" \
	"$(jq --slurpfile i "$scratch/inspect.json" '([.kinds[].bytes] | add) == $i[0].payload_bytes' "$scratch/events.json")"

# kind FILTER FIELD: of the one kind of the rundown's event 144, version 2
kind()
{
	jq -c ".kinds[] | select(.key == \"Microsoft-Windows-DotNETRuntimeRundown/144/2\") | $1" "$scratch/events.json"
}
is "the name" '"MethodDCEndVerbose"' "$(kind .name)"
is "the file has none" null "$(kind .file_name)"
is "the provider's GUID" '"a669021c-c450-4609-a035-5af59af4df18"' "$(kind .guid)"
is "level and keywords" '[4,"0x30"]' "$(kind '[.level, .keywords]')"
is "the last field" '{"name":"ReJITID","type":"u64"}' "$(kind '.fields[-1]')"
is "what documentation calls it" true "$(kind '.published | test("published as MethodDCEndVerbose_V1, id 142")')"
is "no field list has holes" 0 "$(jq '[.kinds[] | select(.fields) | .fields[] | select(.name == "" or (.type == null and .name != "..."))] | length' "$scratch/events.json")"

"$bin/rundown" events "$trace" --provider SAMPLEprofiler >"$scratch/text"
is "--provider: a part of the name in any case" 1 "$(grep -c ' id [0-9]* version' "$scratch/text")"
grep -q "9,065  id 0 version 0  ThreadSample " "$scratch/text" && ok "text: the kind" || not_ok "text: the kind" "$scratch/text"
grep -q "^ *fields: Type u32$" "$scratch/text" && ok "text: fields" || not_ok "text: fields" "$scratch/text"
is "--provider: a GUID" 11 "$("$bin/rundown" events "$trace" --provider a669021c-c450-4609-a035-5af59af4df18 --format json | jq '.kinds | length')"
is "--id" '["MethodUnloadVerbose","MethodDCEndVerbose","MethodDCEndVerbose"]' \
	"$("$bin/rundown" events "$trace" --id 144 --format json | jq -c '[.kinds[].name]')"
for by in count bytes; do
	field=events
	[ $by = count ] || field=bytes
	is "--sort $by" true "$("$bin/rundown" events "$trace" --sort $by --format json | jq "[.kinds[].$field] | . == (sort | reverse)")"
done

# Fields that rundown knows are as long as the payloads, where no field is of a length of its own.
cat >"$scratch/sizes.jq" <<'EOF'
def size: {"u8": 1, "u16": 2, "u32": 4, "i32": 4, "u64": 8, "f64": 8, "bool32": 4, "P": 8, "guid": 16}[.] //
	first((capture("^u8\\[(?<n>[0-9]+)\\]$") | .n | tonumber), null);
[.kinds[] | select(.fields_from == "rundown") | [.fields[].type | if . == null then null else size end] as $sizes |
	select($sizes | all(. != null)) | select((($sizes | add) // 0) * .events != .bytes) |
	"\(.provider) \(.name) version \(.version)"] | join(", ")
EOF
for t in "$trace" tests/traces/shop-verbose.nettrace.zst tests/traces/site-crashed.nettrace.zst \
	"$shared/traces/perfview/net.4.5.2.x64.etl.zip" "$shared/traces/etwanalyzer/TraceLoggingTester.etl.zst"; do
	[ -r "$t" ] || continue
	"$bin/rundown" events "$t" --format json 2>/dev/null >"$scratch/json"
	is "$(basename "$t"): known fields are as long as payloads" "" "$(jq -r -f "$scratch/sizes.jq" "$scratch/json")"
done
"$bin/rundown" events "$trace" --provider Microsoft-Windows-DotNETRuntime --format json >"$scratch/json"
is "fields of the runtime's events are known" "GCSettingsRundown" \
	"$(jq -r '[.kinds[] | select(.name and .fields == null) | .name] | join(" ")' "$scratch/json")"

# none NAME PATTERN ARG...: a name that nothing has is an error, which says what there is.
none()
{
	name=$1 pattern=$2
	shift 2
	"$bin/rundown" events "$@" >"$scratch/out" 2>"$scratch/err"
	is "$name: exit code, nothing on stdout, one line" "1 0 1" \
		"$? $(wc -c <"$scratch/out" | tr -d ' ') $(wc -l <"$scratch/err" | tr -d ' ')"
	grep -q -- "$pattern" "$scratch/err" && ok "$name: says why" || not_ok "$name: says why" "$scratch/err"
}
none "no such provider" "no events of provider 'nobody'; there are Microsoft-" "$trace" --provider nobody
none "no such provider, JSON" "no events of provider 'nobody'; there are " "$trace" --provider nobody --format json
none "no such id" "no events of id 4711; there are Microsoft-" "$trace" --id 4711
none "no such id of a provider" "no events of id 4711 of provider 'rundown'; there are 1[0-9]*, 1" "$trace" --provider rundown --id 4711
none "no such provider, with an id" "no events of id 144 of provider 'nobody'; there are Microsoft-" "$trace" --provider nobody --id 144
none "no such provider in any of several" "no events of provider 'nobody'" "$trace" tests/traces/shop-verbose.nettrace.zst --provider nobody
"$bin/rundown" events tests/traces/linux-cpu-v6.nettrace.zst "$trace" --provider SampleProfiler >"$scratch/out" 2>"$scratch/err"
is "a provider that one of several has: exit code" 0 $?
"$bin/rundown" events "$trace" --sort size >"$scratch/out" 2>"$scratch/err"
is "an order that is none" 2 $?
"$bin/rundown" events "$scratch/nowhere" >"$scratch/out" 2>"$scratch/err"
is "no file" "1 0" "$? $(wc -c <"$scratch/out" | tr -d ' ')"

head -c 2000000 "$trace" >"$scratch/cut"
"$bin/rundown" events "$scratch/cut" --format json >"$scratch/out" 2>"$scratch/err"
is "cut: exit code" 3 $?
is "cut: says so" false "$(jq .complete "$scratch/out")"

# A provider's name that would move the cursor: it is in the metadata, in UTF-16.
python3 - "$trace" "$scratch/evil" <<'END' 2>/dev/null || :
import sys
data = open(sys.argv[1], 'rb').read()
name = 'Microsoft-DotNETCore-EventPipe'.encode('utf-16le')
open(sys.argv[2], 'wb').write(data.replace(name, '\x1b[2J\x07\r-DotNETCore-EventPip\u202e'.ljust(30, 'x').encode('utf-16le')))
END
if [ -s "$scratch/evil" ]; then
	for command in events inspect; do
		"$bin/rundown" $command "$scratch/evil" >"$scratch/text"
		is "$command: no control of a trace reaches the terminal" 0 "$(tr -d '\n' <"$scratch/text" | LC_ALL=C grep -c '[[:cntrl:]]')"
		"$bin/rundown" $command "$scratch/evil" --format json | jq . >"$scratch/out" 2>&1
		is "$command: and JSON is JSON" 0 $?
	done
else
	skip "controls in names" "needs python3"
fi

# ---- files that describe themselves

if [ -d "$shared/traces" ]; then
	"$bin/rundown" events "$shared/traces/etwanalyzer/TraceLoggingTester.etl.zst" --provider CSharp --format json >"$scratch/self.json"
	is "self-describing: names" '["MarkString","MarkStringInteger","MarkBoolByteCharDoubleInt16Int32Int64SByteUInt16UInt32UInt64","WriteIntList","WriteDateTime","WriteTimeSpan","WriteGuid"]' \
		"$(jq -c '[.kinds[].name]' "$scratch/self.json")"
	is "self-describing: fields" '[{"name":"input","type":"string"},{"name":"number1","type":"i32"}]' \
		"$(jq -c '.kinds[1].fields' "$scratch/self.json")"
	"$bin/rundown" events "$shared/traces/perfview/net.4.5.2.x64.etl.zip" --provider Microsoft-Windows-DNS-Client --format json >"$scratch/merged.json"
	is "merged manifests: the provider, and fields" true "$(jq '.kinds | length == 1 and (.[0].fields | length) > 0' "$scratch/merged.json")"
	"$bin/rundown" events "$shared/traces/perfview/net.4.5.2.x64.etl.zip" --provider TplEventSource --id 8 --format json >"$scratch/source.json"
	is "an EventSource's own manifest" '["OriginatingTaskSchedulerID","OriginatingTaskID","TaskID"]' \
		"$(jq -c '[.kinds[0].fields[].name]' "$scratch/source.json")"
else
	skip "self-describing events" "no shared traces beside the checkout"
fi
is "nothing is left in the scratch folder" "" "$(ls -A "$TMPDIR")"
plan
