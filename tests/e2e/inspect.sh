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
head -c 300000 "$trace" | gzip >"$scratch/cut.gz"
truncate -s 20000 "$scratch/cut.gz"
refused "a broken archive" 1 "" "$scratch/cut.gz"
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
plan
