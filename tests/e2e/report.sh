#!/bin/sh
# report over one real result: every form against the answer, filters, output files, and what goes wrong.
. tests/e2e/lib.sh

trace=tests/traces/shop-small.nettrace.zst
r=$scratch/shop.rundown
"$bin/rundown" run "$trace" -o "$r" -q >"$scratch/out" 2>&1 || not_ok "a result to report on" "$scratch/out"
zstd -dcq tests/answers/shop-small.nettrace.json.zst >"$scratch/answer.json"

# report NAME EXIT ARG...: into $scratch/out and $scratch/err
report()
{
	name=$1
	wanted=$2
	shift 2
	"$bin/rundown" report "$@" >"$scratch/out" 2>"$scratch/err"
	is "$name: exit code" "$wanted" $?
}

# refused NAME EXIT PATTERN ARG...: nothing on stdout, one line on stderr that has the pattern.
refused()
{
	name=$1
	pattern=$3
	wanted=$2
	shift 3
	report "$name" "$wanted" "$@"
	is "$name: nothing on stdout" 0 "$(wc -c <"$scratch/out" | tr -d ' ')"
	is "$name: one line" 1 "$(wc -l <"$scratch/err" | tr -d ' ')"
	grep -q -- "$pattern" "$scratch/err" && ok "$name: says why" || not_ok "$name: says why" "$scratch/err"
}

# ---- forms

report json 0 "$r" --format json
jq -e . "$scratch/out" >/dev/null && ok "json: is JSON" || not_ok "json: is JSON"
samples=$(jq .samples "$scratch/answer.json")
is "json: kinds sum to the samples" "$samples" "$(jq '[.kinds[]] | add' "$scratch/out")"
is "json: exclusive counts sum to the samples" "$samples" "$(jq '[.methods[].exclusive] | add' "$scratch/out")"
is "json: buckets sum to the samples" "$samples" "$(jq '.buckets.samples | add' "$scratch/out")"
is "json: processes sum to the samples" "$samples" "$(jq '[.processes[].samples] | add' "$scratch/out")"
is "json: no method is above its process" 0 \
	"$(jq '[. as $r | .methods[] | select(.inclusive > $r.processes[.process].samples or .exclusive > .inclusive)] | length' "$scratch/out")"

report folded 0 "$r" --format folded
is "folded: sums to the samples" "$samples" "$(awk '{ n += $NF } END { print n }' "$scratch/out")"
is "folded: no line twice" "" "$(sed 's/ [0-9]*$//' "$scratch/out" | sort | uniq -d)"
if [ -r "$shared/answers/shop-small.nettrace.folded.zst" ]; then
	zstd -dcq "$shared/answers/shop-small.nettrace.folded.zst" | LC_ALL=C sort >"$scratch/wanted"
	LC_ALL=C sort "$scratch/out" | diff "$scratch/wanted" - >"$scratch/differ" 2>&1
	check_empty "folded: every stack" "$scratch/differ"
else
	skip "folded: every stack" "no shared answers beside the checkout"
fi

report csv 0 "$r" --format csv
is "csv: a row a method" "$(($(jq '.methods | length' "$scratch/answer.json") + 1))" "$(wc -l <"$scratch/out" | tr -d ' ')"
is "csv: every line ends in CRLF" 0 "$(grep -vc "$(printf '\r')\$" "$scratch/out")"

report text 0 "$r"
is "text: 30 methods" 30 "$(grep -c ' % .* % ' "$scratch/out")"
grep -q "of thread time, not CPU time" "$scratch/out" && ok "text: says thread time" || not_ok "text: says thread time" "$scratch/out"
grep -q "percentages are of the 9,065 samples" "$scratch/out" && ok "text: the denominator" || not_ok "text: the denominator" "$scratch/out"
tail -n 1 "$scratch/out" | grep -q "^trust: complete, 0 events lost, 0.1 % of frames unresolved (50 of 54,539), rundown complete" &&
	ok "text: ends with the trust" || not_ok "text: ends with the trust" "$scratch/out"
is "text: no escapes" 0 "$(grep -c "$(printf '\033')" "$scratch/out")"
report "text: --top" 0 "$r" --top 3 --sort inclusive
is "text: 3 methods" 3 "$(grep -c ' % .* % ' "$scratch/out")"

report digest 0 "$r" --digest
is "digest: 32 hex digits" 1 "$(grep -cxE '[0-9a-f]{32}' "$scratch/out")"

# ---- filters

for kind in managed external; do
	report "kind $kind" 0 "$r" --format json --kind $kind
	is "kind $kind: its samples" "$(jq ".types.$kind" "$scratch/answer.json")" "$(jq .samples "$scratch/out")"
	is "kind $kind: the others are discarded" "$samples" "$(jq '.samples + .discarded' "$scratch/out")"
done
pid=$(jq '.processes[0].pid' "$scratch/answer.json")
report "process by pid" 0 "$r" --format json --process "$pid"
is "process by pid: all of it" "$samples" "$(jq .samples "$scratch/out")"
report "process by name" 0 "$r" --format json --process SHOP
is "process by name: all of it" "$samples" "$(jq .samples "$scratch/out")"
refused "no such process" 1 "no samples of process 'nobody'; there are shop (pid $pid, [0-9]* samples)" "$r" --process nobody

# Two halves in time are the whole, wherever it is cut.
width=$("$bin/rundown" report "$r" --format json | jq '.buckets.width_ns / 1000000000')
cut=$(echo "$width" | awk '{ printf "%.6f", $1 * 40 }')
before=$("$bin/rundown" report "$r" --format json --to "$cut" 2>"$scratch/err" | jq .samples)
after=$("$bin/rundown" report "$r" --format json --from "$cut" 2>>"$scratch/err" | jq .samples)
is "time: two halves are the whole" "$samples" "$((before + after))"
[ "$before" -gt 0 ] && [ "$after" -gt 0 ] && ok "time: both halves have samples" || not_ok "time: both halves have samples"
check_empty "time: whole buckets need no note" "$scratch/err"
report "time: widened" 0 "$r" --format json --from "${cut}1"
grep -q "note: the time is widened to whole buckets of $width s" "$scratch/err" &&
	ok "time: widened, and said" || not_ok "time: widened, and said" "$scratch/err"
is "time: widened to the bucket" "$after" "$(jq .samples "$scratch/out")"
start=$("$bin/rundown" report "$r" --format json | jq -r .buckets.origin)
report "time: ISO" 0 "$r" --format json --from "$start"
is "time: ISO, from the start on" "$samples" "$(jq .samples "$scratch/out")"
report "time: after the end" 0 "$r" --from 2200-01-01
grep -q "^no sample passes the filter" "$scratch/out" && ok "time: nothing there" || not_ok "time: nothing there" "$scratch/out"
refused "time: backwards" 2 "--from is not before --to" "$r" --from 2 --to 1

# ---- views: what they choose and how they show it, in every form

# sums NAME WANTED ARG...: every form counts the same samples.
sums()
{
	view=$1
	sum=$2
	shift 2
	report "$view: json" 0 "$r" --format json --stacks "$@"
	is "$view: json" "$sum $sum $sum $sum" \
		"$(jq -r '[.samples, (.stacks.samples | add // 0), (.rows.samples | add // 0), (.buckets.samples | add // 0)] | join(" ")' "$scratch/out")"
	is "$view: no sample is lost" "$samples" "$(jq '.samples + .discarded' "$scratch/out")"
	is "$view: folded" "$sum" "$("$bin/rundown" report "$r" --format folded "$@" | awk '{ n += $NF } END { print n + 0 }')"
	case " $* " in *" --inverted "*) return ;; esac
	is "$view: csv" "$(jq '[.methods[].inclusive] | add // 0' "$scratch/out")" \
		"$("$bin/rundown" report "$r" --format csv "$@" | tr -d '\r' | sed -e 1d -e 's/"[^"]*"/x/g' | awk -F, -v at=9 '{ n += $at } END { print n + 0 }')"
}
folded=$("$bin/rundown" report "$r" --format folded)
# with REGEX: samples of the folded stacks that have such a frame.
with()
{
	printf '%s\n' "$folded" | grep -E -- "$1" | awk '{ n += $NF } END { print n + 0 }'
}
sums "focus" "$(with ';[^;]*Regex')" --focus Regex
sums "ignore" "$((samples - $(with ';[^;]*Regex')))" --ignore Regex
sums "module" "$(with ';shop![^;]*$')" --module shop
sums "hide" "$(with ';(shop|Anony)[^;]*!')" --hide '^[^sA]'
sums "callers" "$(with ';[^;]*Fib')" --callers Fib --group type
sums "inverted" "$samples" --inverted --min 1%
sums "nothing" 0 --focus 'no such method'
report "callees" 0 "$r" --format folded --callees 'Fib\(int32\)'
is "callees: stacks begin with it" "" "$(grep -v '^[0-9]*;shop!Shop.Program.Fib(int32)[; ]' "$scratch/out")"
report "callers" 0 "$r" --format json --callers 'Fib\(int32\)'
is "callers: it is inmost, and outermost of its own" "[$(with ';shop!Shop.Program.Fib\(int32\)'),0]" \
	"$(jq -c '.methods[] | select(.name == "Fib") | [.exclusive, .direct]' "$scratch/out")"
is "callers: whoever has a caller has a direct one" "$(jq .samples "$scratch/out")" \
	"$(jq '[.methods[].direct] | add' "$scratch/out")"
report "groups" 0 "$r" --format json --group module
is "groups: each is once" "$(jq '.methods | length' "$scratch/out")" "$(jq '[.methods[].module] | unique | length' "$scratch/out")"
threads=$("$bin/rundown" report "$r" --format json --by thread --group process)
is "threads: sum to the samples" "$samples" "$(echo "$threads" | jq '[.methods[].exclusive] | add')"
thread=$(echo "$threads" | jq '.methods[0].thread')
sums "thread" "$(echo "$threads" | jq '.methods[0].exclusive')" --thread "$thread"
is "folded by thread" "$samples" \
	"$("$bin/rundown" report "$r" --format folded --by thread | awk '/^[0-9]*;thread [0-9]*;/ { n += $NF } END { print n }')"
report "min" 0 "$r" --min 5%
is "min: no row has less" 0 "$(awk '$4 ~ /^[0-4]\.[0-9]$/ && $5 == "%" { n++ } END { print n + 0 }' "$scratch/out")"
grep -q "of them below 454 samples; percentages are of the 9,065 samples$" "$scratch/out" && ok "min: says so" || not_ok "min: says so" "$scratch/out"
report "text of a view" 0 "$r" --callers Fib --hide '^System'
grep -q "^only the callers of 'Fib'" "$scratch/out" && grep -q "^without frames like '^System'" "$scratch/out" &&
	grep -q "^ *direct  *exclusive  *inclusive " "$scratch/out" && ok "text: says what is shown" || not_ok "text: says what is shown" "$scratch/out"
refused "no such thread" 1 "no samples of thread 1; there are [0-9]*, " "$r" --thread 1
refused "no such module" 1 "no frame is of a module 'nothing'" "$r" --module nothing
refused "no pattern" 2 "--focus: 'a(b' is no regular expression: " "$r" --focus 'a(b'
refused "callers and callees" 2 "exclude each other" "$r" --callers a --callees b
refused "tiers of groups" 2 "a group has no tier" "$r" --group module --tiers

# ---- a terminal, and none
if command -v script >/dev/null && command -v stty >/dev/null; then
	for columns in 80 120; do
		script -qec "stty cols $columns rows 50; '$bin/rundown' report '$r' --no-pager --color never" /dev/null </dev/null >"$scratch/out" 2>&1
		tr -d '\r' <"$scratch/out" | sed 's/…/./g' | awk -v n=$columns 'length > n' >"$scratch/wide"
		check_empty "no line is wider than a terminal of $columns columns" "$scratch/wide"
		grep -q '…' "$scratch/out" && ok "and names are cut there" || not_ok "and names are cut there" "$scratch/out"
	done
else
	skip "a terminal" "no script(1)"
fi
"$bin/rundown" report "$r" >"$scratch/out"
grep -q '…' "$scratch/out" && not_ok "in a pipe nothing is cut" "$scratch/out" || ok "in a pipe nothing is cut"
is "paths below the current folder are shown from there" 1 \
	"$("$bin/rundown" report "$r" | grep -c "^$trace: nettrace")"

# ---- output files

"$bin/rundown" report "$r" --format json -o "$scratch/file.json" >"$scratch/out" 2>&1
check_empty "-o: nothing on stdout" "$scratch/out"
"$bin/rundown" report "$r" --format json | cmp -s - "$scratch/file.json" && ok "-o: the same bytes" || not_ok "-o: the same bytes"
# A link stays; what is no file of its own is written to as it stands.
ln -s there.json "$scratch/link.json"
"$bin/rundown" report "$r" --format json -o "$scratch/link.json"
cmp -s "$scratch/there.json" "$scratch/file.json" && ok "-o: a dangling link is followed" || not_ok "-o: a dangling link is followed"
"$bin/rundown" report "$r" --format csv -o "$scratch/link.json"
is "-o: a link stays" there.json "$(readlink "$scratch/link.json")"
"$bin/rundown" report "$r" --format csv | cmp -s - "$scratch/there.json" && ok "-o: behind a link" || not_ok "-o: behind a link"
digest=$("$bin/rundown" report "$r" --digest)
echo before >"$scratch/log"
"$bin/rundown" report "$r" --digest -o /dev/stdout >>"$scratch/log"
is "-o /dev/stdout: adds to a log" "before $digest" "$(tr '\n' ' ' <"$scratch/log" | sed 's/ $//')"
is "-o /dev/stdout: into a pipe" "$digest" "$("$bin/rundown" report "$r" --digest -o /dev/stdout | cat)"
is "-o /dev/fd/5" "$digest" "$({ "$bin/rundown" report "$r" --digest -o /dev/fd/5 >/dev/null; } 5>&1 | cat)"
mkfifo "$scratch/fifo"
cat "$scratch/fifo" >"$scratch/out" &
"$bin/rundown" report "$r" --digest -o "$scratch/fifo"
wait $!
is "-o: a fifo" "$digest" "$(cat "$scratch/out")"
[ -p "$scratch/fifo" ] && ok "-o: a fifo stays" || not_ok "-o: a fifo stays"
"$bin/rundown" report "$r" --digest -o /dev/null
[ -c /dev/null ] && ok "-o: /dev/null stays" || not_ok "-o: /dev/null stays"
mkdir "$scratch/folder"
refused "-o: a folder" 2 "the output is a folder" "$r" -o "$scratch/folder"
refused "-o: no such folder" 1 "No such file or directory" "$r" -o "$scratch/nowhere/file"
refused "-o: a full disk" 1 "No space left on device" "$r" --format json -o /dev/full
(
	ulimit -f 8
	"$bin/rundown" report "$r" --format json -o "$scratch/folder/limited"
) >"$scratch/out" 2>&1
is "-o: no room leaves nothing" "" "$(ls -A "$scratch/folder")"
"$bin/rundown" report "$r" --format json >/dev/full 2>"$scratch/err"
is "stdout: a full disk" 1 $?

# ---- what is no result

refused "missing" 1 "no such result" "$scratch/nowhere"
refused "a file" 1 "not a result" "$trace"
refused "a folder" 1 "not a result: the folder has no seal" "$scratch/folder"
cp -r "$r" "$scratch/damaged"
dd if=/dev/zero of="$scratch/damaged/data.mdb" bs=1 seek=20000 count=16 conv=notrunc 2>/dev/null
refused "damaged" 1 "the result is damaged" "$scratch/damaged"
cp "$r/data.mdb" "$scratch/damaged/data.mdb"
report "mended" 0 "$scratch/damaged" --digest
truncate -s 30000 "$scratch/damaged/data.mdb"
refused "cut" 1 "the result is damaged: 30000 bytes, sealed with" "$scratch/damaged"
sed -i '1s/.*/rundown result 99/' "$scratch/damaged/seal"
refused "another version" 1 "a result of version 99; this rundown reads version [0-9]" "$scratch/damaged"
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$scratch" && chmod 000 "$r"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$bin/rundown" report "$r" >"$scratch/out" 2>"$scratch/err"
	is "unreadable: exit code" 1 $?
	grep -q "Permission denied" "$scratch/err" && ok "unreadable: says why" || not_ok "unreadable: says why" "$scratch/err"
	chmod 755 "$r"
else
	skip "unreadable" "needs root and setpriv"
fi

# ---- an incomplete input stays one

"$bin/rundown" run tests/traces/site-crashed.nettrace.zst -o "$scratch/crashed" -q >"$scratch/out" 2>&1
is "crashed: run's exit code" 3 $?
for form in text json csv folded; do
	report "crashed: $form" 3 "$scratch/crashed" --format $form
done
report "crashed: digest" 3 "$scratch/crashed" --digest
report "crashed" 3 "$scratch/crashed"
for one in "$scratch/crashed" "$r"; do
	packed=$("$bin/rundown" report "$one" --format json | jq -r '.traces[0].path')
	is "its duration is what inspect says" "$("$bin/rundown" inspect "$packed" --format json | jq .duration_ns)" \
		"$("$bin/rundown" report "$one" --format json | jq '.traces[0].duration_ns')"
done
tail -n 1 "$scratch/out" | grep -q "^trust: incomplete, cut at byte 9,729,678, " && ok "crashed: says where" || not_ok "crashed: says where" "$scratch/out"
plan
