#!/bin/sh
# What may stand for a trace: archives of all kinds, folders, unmerged recordings, .diagsessions; and archives
# that mean harm. The same recording has one digest, however it is given.
. tests/e2e/lib.sh

bin=$(cd "$bin" && pwd)
mkdir "$scratch/tmp" "$scratch/set" "$scratch/work" "$scratch/night"
TMPDIR=$scratch/tmp
export TMPDIR
zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/shop.nettrace"

# of WORDS...: run; leaves the exit code in $status, the digest in $digest, the number of traces in $traces.
of()
{
	rm -rf "$scratch/r"
	"$bin/rundown" run "$@" -o "$scratch/r" >"$scratch/out" 2>"$scratch/err"
	status=$?
	digest=$("$bin/rundown" report "$scratch/r" --digest 2>&1)
	traces=$("$bin/rundown" report "$scratch/r" --format json 2>/dev/null | jq '.traces | length')
}

# ---- archives of one trace

of "$scratch/shop.nettrace"
is "plain: exit code" 0 $status
plain=$digest
gzip -c "$scratch/shop.nettrace" >"$scratch/shop.gz"
xz -0c "$scratch/shop.nettrace" >"$scratch/shop.xz"
bzip2 -1c "$scratch/shop.nettrace" >"$scratch/shop.bz2"
(cd "$scratch" && zip -q -1 shop.zip shop.nettrace)
for packed in gz xz bz2 zip; do
	of "$scratch/shop.$packed"
	is "$packed: the same digest" "$plain" "$digest"
	"$bin/rundown" inspect "$scratch/shop.$packed" --format json | jq -c '[.format, .samples]' >"$scratch/out"
	is "$packed: inspect" '["nettrace",9065]' "$(cat "$scratch/out")"
done

# ---- packed traces that were cut or damaged: kept and told, or refused; and the same as a plain trace cut there

# damaged NAME FILE TEXT: told in the trust, the note, the reports and inspect.
damaged()
{
	of "$2"
	is "$1: exit code" 3 $status
	is "$1: a note says why" 1 "$(grep -c "note: .*$3" "$scratch/err")"
	is "$1: the trust says why" 1 "$("$bin/rundown" report "$scratch/r" | grep -c "^trust: incomplete.*$3")"
	is "$1: JSON says why" "false 1" "$("$bin/rundown" report "$scratch/r" --format json |
		jq -r '"\(.trust.complete) \([.traces[] | select(.damage and (.complete | not))] | length)"')"
	told=$digest
	of "$2" --shards 5 --workers 2
	is "$1: the same, however it is sharded" "$told" "$digest"
	"$bin/rundown" inspect "$2" >"$scratch/out" 2>"$scratch/err"
	is "$1: inspect, exit code" 3 $?
	is "$1: inspect says why" 1 "$(grep -c "at byte .*$3" "$scratch/out")"
}

zstd -qc "$scratch/shop.nettrace" >"$scratch/shop.zst"
for packed in xz bz2 zst zip gz; do
	head -c 250000 "$scratch/shop.$packed" >"$scratch/cut.$packed"
	damaged "$packed, cut" "$scratch/cut.$packed" "the compressed file ends early at byte 250000"
done
gzip -dcq "$scratch/cut.gz" >"$scratch/cut.nettrace" 2>/dev/null
of "$scratch/cut.nettrace"
is "gz, cut: as the plain trace" "$told" "$digest"
{ head -c 3000000 "$scratch/shop.nettrace" | gzip -c && tail -c +3000001 "$scratch/shop.nettrace" | gzip -c; } >"$scratch/two.gz"
of "$scratch/two.gz"
is "two members: exit code, digest" "0 $plain" "$status $digest"
size=$(wc -c <"$scratch/two.gz" | tr -d ' ')
printf 'damage' | dd of="$scratch/two.gz" bs=1 seek=$((size - 5000)) conv=notrunc 2>/dev/null
damaged "two members, the second damaged" "$scratch/two.gz" "is damaged in the part that begins at byte"
{ cat "$scratch/shop.gz" && head -c 70000 /dev/zero; } >"$scratch/padded.gz"
of "$scratch/padded.gz"
is "zeros behind a gzip: exit code, digest" "0 $plain" "$status $digest"
for packed in gz zst xz bz2 zip; do
	cp "$scratch/shop.$packed" "$scratch/bad.$packed"
	printf 'damage' | dd of="$scratch/bad.$packed" bs=1 seek=200000 conv=notrunc 2>/dev/null
	of "$scratch/bad.$packed"
	is "$packed, damaged: exit code" 1 $status
	is "$packed, damaged: one line says so" "1 1" \
		"$(wc -l <"$scratch/err" | tr -d ' ') $(grep -c 'the archive cannot be unpacked: ' "$scratch/err")"
done

# ---- folders and several traces

cp "$scratch/shop.nettrace" "$scratch/night/b.nettrace"
cp "$scratch/shop.gz" "$scratch/night/a.gz"
echo "no trace" >"$scratch/night/readme.txt"
(cd "$scratch" && zip -q night/none.zip night/readme.txt)
of "$scratch/night/a.gz" "$scratch/night/b.nettrace"
is "several traces: exit code" 0 $status
is "several traces in one result" 2 "$traces"
two=$digest
of "$scratch/night"
is "a folder: its traces" "$two" "$digest"
of "$scratch/night/"
is "a folder with a slash: its traces" "$two" "$digest"
is "a folder: by name" "a.gz b.nettrace" "$("$bin/rundown" report "$scratch/r" --format json |
	jq -r '[.traces[].path | sub(".*/"; "")] | join(" ")')"
(cd "$scratch/night" && "$bin/rundown" run . -q)
is "a folder's result is called after it" "night.rundown" "$(cd "$scratch/night" && echo *.rundown)"
rm -rf "$scratch/night/night.rundown"
is "inspect of a folder" "a.gz b.nettrace" "$("$bin/rundown" inspect "$scratch/night" --format json |
	jq -r '[.traces[].path | sub(".*/"; "")] | join(" ")')"
head -c 100000 /dev/urandom | gzip >"$scratch/night/c.bin.gz"
of "$scratch/night"
is "a folder: an archive of something else is passed over" "$two" "$digest"
mv "$scratch/night/c.bin.gz" "$scratch/night/c.nettrace.gz"
of "$scratch/night"
is "a folder: an archive with a trace's name is told, and left out" "3 1" \
	"$status $(grep -c '/c.nettrace.gz is left out: the archive holds no trace$' "$scratch/err")"

# ---- a folder with files that cannot be used: each is told, the rest counts

: >"$scratch/night/empty.nettrace"
echo "<html>" >"$scratch/night/page.etl"
head -c 20 "$scratch/shop.nettrace" >"$scratch/night/begun.nettrace"
ln -s gone "$scratch/night/link.nettrace"
mkdir "$scratch/night/named.nettrace"
unusable="begun.nettrace c.nettrace.gz empty.nettrace link.nettrace page.etl"
of "$scratch/night"
is "unusable files of a folder: exit code" 3 $status
is "unusable files of a folder: each is told once" "$unusable" \
	"$(sed -n 's|.*night/\([^ ]*\) is left out: .*|\1|p' "$scratch/err" | tr '\n' ' ' | sed 's/ $//')"
left=$digest
"$bin/rundown" report "$scratch/r" --format json >"$scratch/left"
is "unusable files of a folder: exit code of a report" 3 $?
is "unusable files of a folder: in the result, with why" "$unusable true" "$(jq -r '[.traces[] |
	select(.format == "left out" and .complete == false and (.damage | length) > 0 and .start == null)] |
	"\(map(.path | sub(".*/"; "")) | join(" ")) \(length == 5)"' "$scratch/left")"
is "unusable files of a folder: the others are whole" "2 true" \
	"$(jq -r '[.traces[] | select(.complete)] | "\(length) \(all(.format == "nettrace"))"' "$scratch/left")"
of "$scratch/night/a.gz" "$scratch/night/b.nettrace"
"$bin/rundown" report "$scratch/r" --format json >"$scratch/whole"
counts()
{
	jq -c '[.samples, (.methods | map([.module, .name, .exclusive, .inclusive]))]' "$1" | cksum
}
is "unusable files of a folder: the same counts without them" "$(counts "$scratch/whole")" "$(counts "$scratch/left")"
for shards in 1 9; do
	of "$scratch/night" --shards $shards --workers 2
	is "unusable files of a folder, $shards shards: the same digest" "$left" "$digest"
done
of "$scratch/night" --join
is "--join with unusable files: exit code, one process" "3 1" "$status $("$bin/rundown" report "$scratch/r" --format json |
	jq '.processes | length')"
"$bin/rundown" inspect "$scratch/night" --format json >"$scratch/out" 2>"$scratch/err"
is "inspect of unusable files: exit code, notes, traces" "3 5 2" "$? $(grep -c 'is left out' "$scratch/err") $(jq '.traces | length' "$scratch/out")"
of "$scratch/night/page.etl" "$scratch/night/b.nettrace"
is "one that is named fails the run" "1 1" "$status $(grep -c 'not a trace that this build knows' "$scratch/err")"
rm "$scratch/night"/*.nettrace "$scratch/night/a.gz" 2>/dev/null
of "$scratch/night"
is "nothing but unusable files: exit code, why" "1 1" "$status $(grep -c 'none of 2 traces can be used: ' "$scratch/err")"
rm -r "$scratch/night"
mkdir "$scratch/night"
cp "$scratch/shop.nettrace" "$scratch/night/b.nettrace"
cp "$scratch/shop.gz" "$scratch/night/a.gz"
of "$scratch/night" "$scratch/shop.nettrace" --join
is "--join: exit code" 0 $status
is "--join: one process, the samples of all" "1 27195" "$("$bin/rundown" report "$scratch/r" --format json |
	jq -r '"\(.processes | length) \(.samples)"')"
zstd -dcq tests/traces/shop-verbose.nettrace.zst >"$scratch/verbose.nettrace"
of "$scratch/shop.nettrace" "$scratch/verbose.nettrace" --join
is "--join: each process is in the trace that names it" "[0,0] [0,1]" "$("$bin/rundown" report "$scratch/r" --format json |
	jq -r '"\(.traces | map(.joined_with)) \(.processes | map(.trace) | sort)"')"
for n in 1 2; do
	"$bin/rundown" report "$scratch/r" --trace $n --format json >"$scratch/out"
	is "--trace $n: its process alone" "[$((n - 1))] true" "$(jq -c '[.processes[].trace]' "$scratch/out") $(
		jq "(.samples > 0) and .view.trace == $n - 1" "$scratch/out")"
done
is "--trace: both are all" "$("$bin/rundown" report "$scratch/r" --format json | jq .samples)" "$(for n in 1 2; do
	"$bin/rundown" report "$scratch/r" --trace $n --format json; done | jq -s 'map(.samples) | add')"
"$bin/rundown" report "$scratch/r" --trace 3 >"$scratch/out" 2>"$scratch/err"
is "--trace 3 of two: exit code" 1 $?
is "--trace 3 of two: says so" "rundown report: no trace 3; the result is of 2" "$(cat "$scratch/err")"
is "--join: a report says so" 1 "$("$bin/rundown" report "$scratch/r" | grep -c '^traces 1 and 2 are joined')"
of "$scratch/night/b.nettrace" "$scratch/night"
is "a file and its folder: exit code" 1 $status
is "a file and its folder: given twice" 1 "$(grep -c 'given twice' "$scratch/err")"

# ---- a recording that was never merged

session=$shared/traces/perfview/diaghub-dotnetcore3.1-win-x64-diagsession.zip
if [ -f "$session" ]; then
	unzip -q -j "$session" -d "$scratch/set"
	of "$scratch/set/diaghub.etl"
	set=$digest
	is "an unmerged recording: all its files" "0 4" "$status $traces"
	is "an unmerged recording: a note says which" 1 \
		"$(grep -c 'note: .*diaghub.etl is one recording with diaghub.kernel.1.etl, ' "$scratch/err")"
	for part in diaghub.kernel.1.etl diaghub.user_paged.1.etl; do
		of "$scratch/set/$part"
		is "an unmerged recording by $part" "$set" "$digest"
	done
	of "$scratch/set"
	is "an unmerged recording by its folder" "$set" "$digest"
	of "$session"
	is "an unmerged recording inside an archive" "$set" "$digest"
	cp "$session" "$scratch/x.diagsession"
	of "$scratch/x.diagsession"
	is "a .diagsession" "$set" "$digest"
	of "$scratch/set/diaghub.kernel.1.etl" --no-join
	is "--no-join: the file alone" "0 1" "$status $traces"
	is "inspect tells a file by itself" "etl" \
		"$("$bin/rundown" inspect "$scratch/set/diaghub.etl" --format json | jq -r .format)"
	is "inspect of an archive of several" 4 "$("$bin/rundown" inspect "$session" --format json | jq '.traces | length')"
	"$bin/rundown" inspect "$session" --member nothing.etl >"$scratch/out" 2>"$scratch/err"
	is "--member that is not there: exit code" 1 $?
	of "$scratch/set/diaghub.etl" "$scratch/shop.nettrace" --join
	is "other clocks cannot be joined: exit code" 1 $status
	is "other clocks cannot be joined: one line" "1 1" \
		"$(wc -l <"$scratch/err") $(grep -c 'cannot be joined with diaghub.etl: their clocks differ' "$scratch/err")"
else
	skip "an unmerged recording" "no shared traces beside the checkout"
fi

# ---- archives that mean harm

# harmful NAME PATTERN FILE: refused by run and inspect in one line, with nothing left.
harmful()
{
	rm -rf "$scratch/r"
	for command in "run -q -o $scratch/r" inspect; do
		"$bin/rundown" $command "$3" >"$scratch/out" 2>"$scratch/err"
		is "$1, ${command%% *}: exit code" 1 $?
		is "$1, ${command%% *}: one line says why" "1 1" "$(wc -l <"$scratch/err") $(grep -c "$2" "$scratch/err")"
	done
	is "$1: nothing is left" "" "$(ls -A "$scratch/tmp" && ls -d "$scratch/r" "$scratch/escape.nettrace" 2>/dev/null)"
}

# Names are changed to others of one length, so that the archive stays whole.
for name in aa_escape bb_escape; do
	cp "$scratch/shop.nettrace" "$scratch/work/$name.nettrace"
done
(cd "$scratch/work" && zip -q -1 "$scratch/one.zip" aa_escape.nettrace)
LC_ALL=C sed 's,aa_escape.nettrace,../escape.nettrace,g' "$scratch/one.zip" >"$scratch/up.zip"
harmful "a name that goes up" "with \.\. in its name" "$scratch/up.zip"
LC_ALL=C sed 's,aa_escape.nettrace,/t/escape.nettrace,g' "$scratch/one.zip" >"$scratch/root.zip"
harmful "an absolute name" "absolute name" "$scratch/root.zip"
(cd "$scratch/work" && zip -q -1 "$scratch/both.zip" aa_escape.nettrace bb_escape.nettrace)
LC_ALL=C sed 's,bb_escape.nettrace,aa_escape.nettrace,g' "$scratch/both.zip" >"$scratch/twice.zip"
harmful "a name twice" "two members of one name" "$scratch/twice.zip"
ln -s "$scratch/shop.nettrace" "$scratch/work/link.nettrace"
(cd "$scratch/work" && zip -q -y "$scratch/link.zip" link.nettrace)
harmful "only a link" "no trace" "$scratch/link.zip"
{ head -c 2000 "$scratch/shop.nettrace" && head -c 100000000 /dev/zero; } | bzip2 -9 >"$scratch/bomb.bz2"
harmful "a bomb" "more than 10000 times its size" "$scratch/bomb.bz2"
rundown=$(cd "$bin" && pwd)/rundown
# ---- one fault has one sentence, whoever meets it
mkdir "$scratch/faults" "$scratch/faults/folder"
(
	cd "$scratch/faults" || exit 1
	: >empty
	echo "This is a text, and long enough to be looked at." >text
	echo abc >short
	printf 'Nettrace\0\0\0\0\11\0\0\0\0\0\0\0' >version
	gzip -c text >text.gz
	printf 'PK\3\4abcdef' >broken.zip
	mkfifo pipe
)
head -c 20 tests/traces/shop-small.nettrace.zst >"$scratch/faults/cut.zst"
(cd "$scratch/faults" && ls -d * /dev/null /no/such "$(printf 'no\nsuch')") 2>/dev/null | while read -r fault; do
	(cd "$scratch/faults" && "$rundown" run "$fault" -o "$scratch/faults.rundown") 2>&1 >/dev/null | sed 's/^rundown run: //' >"$scratch/one"
	(cd "$scratch/faults" && "$rundown" inspect "$fault") 2>&1 >/dev/null | sed 's/^rundown inspect: //' >"$scratch/other"
	[ "$(wc -l <"$scratch/one")" -eq 1 ] || echo "$fault: not one line"
	grep -qF "($fault)" "$scratch/one" || echo "$fault: not called as it was given: $(cat "$scratch/one")"
	diff "$scratch/one" "$scratch/other"
done >"$scratch/differ"
check_empty "run and inspect say the same of what they cannot read" "$scratch/differ"
plan
