#!/bin/sh
# `rundown run`: results and refusals, exit codes and lines, kills and signals. Nothing may be left behind.
. tests/e2e/lib.sh

bin=$(cd "$bin" && pwd)
run="$bin/rundown run"
# All that is private lands here, so that what is left behind is seen.
mkdir "$scratch/tmp" "$scratch/work"
TMPDIR=$scratch/tmp
export TMPDIR
for name in shop-small shop-verbose site-crashed; do
	zstd -dcq "tests/traces/$name.nettrace.zst" >"$scratch/$name.nettrace"
done
small=$scratch/shop-small.nettrace

# refused NAME EXIT WORDS...: the exit code, and one line on stderr that holds $line.
refused()
{
	name=$1 wanted=$2
	shift 2
	(cd "$scratch/work" && "$bin/rundown" run "$@") >"$scratch/out" 2>"$scratch/err"
	is "$name: exit code" "$wanted" $?
	{
		[ "$(wc -l <"$scratch/err")" -eq 1 ] || echo "not one line"
		grep -q -e "$line" "$scratch/err" || echo "no '$line'"
		[ ! -s "$scratch/out" ] || echo "something on stdout"
	} >"$scratch/wrong"
	[ ! -s "$scratch/wrong" ] || cat "$scratch/err" >>"$scratch/wrong"
	check_empty "$name: one line" "$scratch/wrong"
}

# settle: until the killed are gone, which may wait for a disk.
settle()
{
	tries=0
	while [ -n "$(members "$scratch/tmp")" ] && [ $tries -lt 500 ]; do
		tries=$((tries + 1))
		sleep 0.02
	done
}

digest()
{
	"$bin/rundown" report "$1" --digest
}

# ---- what is refused before anything is started
line='no such file (/no/such/trace)' refused "a missing trace" 1 /no/such/trace
mkdir "$scratch/nothing"
line='nothing' refused "a folder without traces" 1 "$scratch/nothing"
: >"$scratch/empty"
line='an empty file' refused "an empty file" 1 "$scratch/empty"
line='is a device, not a file' refused "a device" 1 /dev/null
line='given twice' refused "twice the same" 1 "$small" "$small"
line='no/such/folder' refused "a result nowhere" 1 "$small" -o no/such/folder/r
line='TRACE... is missing' refused "no trace" 2
line='--shards' refused "no shards" 2 "$small" --shards 0
line='--chards' refused "an unknown option" 2 "$small" --chards 3
if [ "$(id -u)" -ne 0 ]; then
	cp "$small" "$scratch/unreadable" && chmod 000 "$scratch/unreadable"
	line='Permission denied' refused "an unreadable trace" 1 "$scratch/unreadable"
else
	skip "an unreadable trace" "root reads everything"
fi
left "refusals"

# ---- what a worker refuses
echo "This is no trace, but a text of some length." >"$scratch/text"
line='not a trace' refused "a text" 1 "$scratch/text"
printf 'Nettrace\0\0\0\0\11\0\0\0\0\0\0\0' >"$scratch/version9"
line='9' refused "an unknown version" 1 "$scratch/version9"
line='text' refused "one bad trace of two" 1 "$small" "$scratch/text"
{ head -c 300000 tests/traces/shop-verbose.nettrace.zst && echo damage && tail -c +300008 tests/traces/shop-verbose.nettrace.zst; } >"$scratch/damaged.zst"
line='damaged.zst' refused "a packed trace that is damaged" 1 "$scratch/damaged.zst"
left "bad traces"

# ---- results
(cd "$scratch/work" && "$bin/rundown" run "$small") >"$scratch/out" 2>"$scratch/err"
is "a result beside us: exit code" 0 $?
is "a result beside us" shop-small.nettrace.rundown "$(ls "$scratch/work")"
{
	grep -q '^trust: ' "$scratch/out" || echo "no line of trust"
	grep -q 'shop-small.nettrace.rundown' "$scratch/err" || echo "it does not say where the result is"
} >"$scratch/wrong"
check_empty "it ends with the line of trust" "$scratch/wrong"
one=$(digest "$scratch/work/shop-small.nettrace.rundown")
line='--force replaces it' refused "it is there already" 1 "$small"
$run "$small" -o "$scratch/work/shop-small.nettrace.rundown" --force -q >"$scratch/out" 2>&1
is "--force: exit code" 0 $?
check_empty "-q says nothing" "$scratch/out"
is "--force: the same again" "$one" "$(digest "$scratch/work/shop-small.nettrace.rundown")"
mkdir "$scratch/work/other.rundown"
line='--force replaces results only: not a result' refused "--force on something else" 1 "$small" -o other.rundown --force
rmdir "$scratch/work/other.rundown"
echo mine >"$scratch/work/shop-small.nettrace.rundown/notes"
line='it holds notes, which is no part of a result (shop-small.nettrace.rundown)' \
	refused "--force on a file of the user's" 1 "$small" --force
is "--force on a file of the user's: it is there" mine "$(cat "$scratch/work/shop-small.nettrace.rundown/notes")"
rm "$scratch/work/shop-small.nettrace.rundown/notes"
for way in 1x1 3x2 50x2; do
	$run "$small" -o "$scratch/work/r.rundown" --force -q --shards "${way%x*}" --workers "${way#*x}"
	digest "$scratch/work/r.rundown"
done >"$scratch/digests" 2>&1
is "any shards, one digest" "$one" "$(sort -u "$scratch/digests")"
$run tests/traces/shop-small.nettrace.zst -o "$scratch/work/r.rundown" --force -q
is "packed, the same digest" "$one" "$(digest "$scratch/work/r.rundown")"
$run "$scratch/site-crashed.nettrace" -o "$scratch/work/r.rundown" --force -q 2>"$scratch/err"
is "a crashed one: exit code" 3 $?
is "a crashed one: says why, also with -q" "1 1" \
	"$(wc -l <"$scratch/err" | tr -d ' ') $(grep -c 'site-crashed.nettrace is incomplete from byte [0-9]* on' "$scratch/err")"
(cd "$scratch" && $run text -o work/x.rundown) 2>"$scratch/err"
is "a path is shown as it was given" 1 "$(grep -c '(text)$' "$scratch/err")"
name=$(printf 'odd\n\033[31m\342\200\256.nettrace')
cp "$small" "$scratch/$name"
(cd "$scratch" && $run "$name" -o "work/$name.rundown") >"$scratch/out" 2>"$scratch/err"
is "a name that a terminal would obey: exit code" 0 $?
is "a name that a terminal would obey" "rundown run: the result is in work/odd\\n\\x1b[31m\\u202e.nettrace.rundown" "$(cat "$scratch/err")"
(cd "$scratch" && "$bin/rundown" report "work/$name.rundown" && "$bin/rundown" inspect "$name") >"$scratch/out" 2>&1
is "and in reports" 2 "$(grep -c 'odd\\n\\x1b\[31m\\u202e.nettrace' "$scratch/out")"
"$bin/rundown" "$name" 2>"$scratch/err"
"$bin/rundown" report "$name" 2>>"$scratch/err"
"$bin/rundown" run --top "$name" 2>>"$scratch/err"
"$bin/rundown" inspect "/no/$name" 2>>"$scratch/err"
is "and in errors" "4 0" "$(wc -l <"$scratch/err" | tr -d ' ') $(LC_ALL=C grep -c '[^ -~]' "$scratch/err")"
rm -r "$scratch/work/$name.rundown"
(TMPDIR=$scratch/no/such "$bin/rundown" run "$small" -o "$scratch/work/x.rundown") >"$scratch/out" 2>"$scratch/err"
is "no folder for temporary files: exit code" 1 $?
left "results"

# ---- a folder for temporary files whose path is too long for a socket's address
deep=$scratch/tmp/$(printf '%0100d' 0)
mkdir "$deep"
TMPDIR=$deep $run "$small" -o "$scratch/work/r.rundown" --force -q --log info >"$scratch/out" 2>"$scratch/err"
is "a long TMPDIR: exit code" 0 $?
is "a long TMPDIR: the same digest" "$one" "$(digest "$scratch/work/r.rundown")"
is "a long TMPDIR: nothing is left in it" "" "$(ls "$deep")"
rmdir "$deep"

# ---- links stay
ln -s r.rundown "$scratch/work/link.rundown"
line='--force replaces it' refused "a link to a result" 1 "$small" -o link.rundown
$run "$small" -o "$scratch/work/link.rundown" --force -q
is "a link to a result: exit code" 0 $?
is "a link to a result: what it leads to is replaced" "$one" "$(digest "$scratch/work/r.rundown")"
rm -r "$scratch/work/r.rundown"
$run "$small" -o "$scratch/work/link.rundown" -q
is "a dangling link: the result is where it leads" "$one" "$(digest "$scratch/work/r.rundown")"
is "a dangling link: it stays" r.rundown "$(readlink "$scratch/work/link.rundown")"
rm "$scratch/work/link.rundown"
left "links"

# ---- progress
$run "$small" -o "$scratch/work/r.rundown" --force --progress=json --shards 5 >/dev/null 2>"$scratch/err"
jq -r '.state // empty' "$scratch/err" | sort -u >"$scratch/states"
is "progress as JSON" "done finishing running" "$(grep -v queued "$scratch/states" | tr '\n' ' ' | sed 's/ $//')"
is "and its last line says where the result is" '{"result":"'"$scratch/work/r.rundown"'"}' "$(tail -n 1 "$scratch/err" | jq -c .)"
$run "$scratch/site-crashed.nettrace" -o "$scratch/work/r.rundown" --force -q --progress=json 2>"$scratch/err"
is "notes as JSON" 1 "$(jq -r '.note // empty' "$scratch/err" | grep -c 'is incomplete from byte')"
$run /no/such --progress=json 2>"$scratch/err"
is "errors as JSON" "no such file (/no/such)" "$(jq -r .error "$scratch/err")"
line='--log would write between' refused "JSON and a log" 2 "$small" --progress=json --log=info
$run "$small" -o "$scratch/work/r.rundown" --force --progress=plain --shards 5 >/dev/null 2>"$scratch/err"
is "progress in plain lines" 1 "$(grep -c 'reconciling$' "$scratch/err")"
$run "$small" -o "$scratch/work/r.rundown" --force >/dev/null 2>"$scratch/err"
is "no progress where there is no terminal" 1 "$(wc -l <"$scratch/err" | tr -d ' ')"

# ---- kills. Long enough to be hit: many copies.
copies=
for i in 1 2 3 4 5 6 7 8 9 10; do
	cp "$scratch/shop-verbose.nettrace" "$scratch/work/$i.nettrace"
	copies="$copies $scratch/work/$i.nettrace"
done
long="$run $copies -o $scratch/work/long.rundown --force --shards 5 --workers 2"
$long -q
is "ten traces: exit code" 0 $?
ten=$(digest "$scratch/work/long.rundown")

# killed NAME: of a run in the background, after $wait seconds; sets pid and status.
killed()
{
	$long >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	victim=$(child $pid "$1")
	sleep "$2"
	kill -9 "$victim" 2>/dev/null || echo "# $1 was gone already"
	wait $pid
	status=$?
}

killed rundown-worker 0.05
is "kill -9 of a worker: exit code" 0 $status
is "kill -9 of a worker: the same digest" "$ten" "$(digest "$scratch/work/long.rundown")"
left "kill -9 of a worker"
for name in broker merger; do
	rm -rf "$scratch/work/long.rundown"
	killed rundown-$name 0.05
	is "kill -9 of the $name: exit code" 1 $status
	is "kill -9 of the $name: its name and signal" 1 "$(grep -c "the $name was killed by SIGKILL" "$scratch/err")"
	is "kill -9 of the $name: no result" "" "$(ls -d "$scratch/work/long.rundown" 2>/dev/null)"
	left "kill -9 of the $name"
done
# A shell lets what it starts in the background ignore SIGINT.
interrupted()
{
	rm -rf "$scratch/work/long.rundown"
	env --default-signal=INT $long >"$scratch/out" 2>"$scratch/err" &
	pid=$!
	child $pid rundown-worker >/dev/null
	sleep 0.05
	kill -"$1" $pid
	wait $pid
	status=$?
}
for signal in INT TERM; do
	interrupted $signal
	is "SIG$signal: exit code" "$([ $signal = INT ] && echo 130 || echo 143)" $status
	is "SIG$signal: says so" 1 "$(grep -c 'stopped' "$scratch/err")"
	is "SIG$signal: no result" "" "$(ls -d "$scratch/work/long.rundown" 2>/dev/null)"
	left "SIG$signal"
done
# Of a run that is killed only its folder may stay.
interrupted KILL
settle
members "$scratch/tmp" >"$scratch/left"
check_empty "SIGKILL: no process is left" "$scratch/left"
is "SIGKILL: its folder is left" 1 "$(ls "$scratch/tmp" | wc -l | tr -d ' ')"
mkdir "$scratch/tmp/rundown-mine00" && : >"$scratch/tmp/rundown-mine00/file"
$run "$small" -o "$scratch/work/r.rundown" --force -q
is "and goes with the next run, and nothing else" rundown-mine00 "$(ls "$scratch/tmp")"
rm -rf "$scratch/tmp/rundown-mine00"

# ---- kill -9 of all at once, at moments that differ: what is left goes with the next run to the same place
for moment in 0.2 0.3 0.4 0.45 0.5 0.55 0.6 0.7; do
	env --default-signal=INT setsid $long >/dev/null 2>&1 &
	pid=$!
	sleep $moment
	for p in $pid $(members "$scratch/tmp" | cut -d' ' -f1); do
		kill -9 "$p" 2>/dev/null
	done
	wait $pid
done
settle
mkdir "$scratch/work/.long.rundown.rundown-mine-0000abcd"
echo mine >"$scratch/work/.long.rundown.rundown-mine-0000abcd/file"
$long -q >"$scratch/out" 2>&1
is "after kills of all: exit code" 0 $?
is "after kills of all: the same digest" "$ten" "$(digest "$scratch/work/long.rundown")"
is "after kills of all: what is not ours stays" mine "$(cat "$scratch/work/.long.rundown.rundown-mine-0000abcd/file")"
rm -r "$scratch/work/.long.rundown.rundown-mine-0000abcd"
left "after kills of all"

# ---- a poison shard: whoever decodes its bytes dies, each time
if ldd "$bin/rundown" 2>/dev/null | grep -q 'libasan\|libubsan'; then
	skip "a poison shard" "the sanitizers preload libraries of their own"
else
	# In the middle of a trace in three shards.
	RD_POISON_AT=$(($(wc -c <"$small") / 2)) LD_PRELOAD=$(cd "${RD_BUILD:-build/release}" && pwd)/tests/preload/poison.so \
		$run "$small" -o "$scratch/work/r.rundown" --force --shards 3 >"$scratch/out" 2>"$scratch/err"
	is "a poison shard: exit code" 3 $?
	is "a poison shard: says so" 1 "$(grep -c '1 of 3 shards could not be decoded .* killed by SIGILL' "$scratch/err")"
	is "a poison shard: the report names its bytes" 1 \
		"$("$bin/rundown" report "$scratch/work/r.rundown" --format json | jq '.trust.quarantined | length')"
	left "a poison shard"
	# One that takes the parser over gets nothing by it.
	"$bin/rundown-worker" --require-sandbox --broker none 2>"$scratch/err"
	if grep -q 'cannot be fenced in: there is no seccomp' "$scratch/err"; then
		skip "a shard that takes its parser over" "no seccomp here"
	else
		RD_POISON_AT=$(($(wc -c <"$small") / 2)) RD_POISON_ACT=socket \
			LD_PRELOAD=$(cd "${RD_BUILD:-build/release}" && pwd)/tests/preload/poison.so \
			$run "$small" -o "$scratch/work/r.rundown" --force --shards 3 >"$scratch/out" 2>"$scratch/err"
		is "a shard that takes its parser over: exit code" 3 $?
		is "a shard that takes its parser over: says so" 1 \
			"$(grep -c '1 of 3 shards could not be decoded .* killed by SIGSYS .*its sandbox forbids' "$scratch/err")"
		left "a shard that takes its parser over"
	fi
fi

# ---- little address space: LMDB's maps take what there is
if ldd "$bin/rundown" 2>/dev/null | grep -q 'libasan\|libubsan'; then
	skip "little address space" "the sanitizers need it"
else
	for space in 160000 1000000 20000000; do
		(ulimit -v $space && $run "$small" -o "$scratch/work/r.rundown" --force -q) >"$scratch/out" 2>&1
		is "$space KiB of address space: exit code" 0 $?
		is "$space KiB of address space" "$one" "$(digest "$scratch/work/r.rundown")"
	done
	(ulimit -v 60000 && $run "$small" -o "$scratch/work/r.rundown" --force -q) >"$scratch/out" 2>&1
	is "hardly any address space: exit code" 1 $?
	is "hardly any address space: one line" 1 "$(wc -l <"$scratch/out" | tr -d ' ')"
	is "hardly any address space: says why" 1 "$(grep -c 'ulimit -v' "$scratch/out")"
	left "little address space"
fi

# ---- full disks
mkdir "$scratch/full"
if mount -t tmpfs -o size=100k none "$scratch/full" 2>/dev/null; then
	line='No space left on device' refused "a full disk under the result" 1 $copies -o "$scratch/full/r.rundown"
	ls -A "$scratch/full" >"$scratch/left"
	check_empty "a full disk under the result: nothing is left there" "$scratch/left"
	TMPDIR=$scratch/full
	line="No space left on device ($scratch/full/rundown-.*); with TMPDIR set to another folder" \
		refused "a full disk under the work" 1 "$PWD"/tests/traces/shop-verbose.nettrace.zst
	line="No space left on device ($scratch/full/rundown-.*/state); with TMPDIR set to another folder" \
		refused "a full disk under the partials" 1 "$scratch/shop-verbose.nettrace"
	ls -A "$scratch/full" >"$scratch/left"
	check_empty "a full disk under the work: nothing is left there" "$scratch/left"
	umount "$scratch/full"
	# Room for our folder and its inner one, and for no file more.
	for inodes in 3 4 5 6 7 8; do
		mount -t tmpfs -o nr_inodes=$inodes none "$scratch/full"
		"$bin/rundown" run "$scratch/shop-verbose.nettrace" -o "$scratch/inodes.rundown" --force -q >"$scratch/out" 2>&1
		status=$?
		if [ $status -ne 0 ]; then
			is "$inodes inodes: one line that says why" "1 1 1" \
				"$status $(wc -l <"$scratch/out" | tr -d ' ') $(grep -c 'No space left on device' "$scratch/out")"
		fi
		umount "$scratch/full"
	done
	TMPDIR=$scratch/tmp
else
	skip "a full disk" "no tmpfs can be mounted"
fi

# ---- a reader that goes away is no failure

mkfifo "$scratch/gone"
: <"$scratch/gone" &
"$bin/rundown" run tests/traces/shop-small.nettrace.zst --top 0 -o "$scratch/pipe.rundown" >"$scratch/gone" 2>"$scratch/err"
is "a reader that goes away: exit code" 0 $?
is "a reader that goes away: only where the result is" 1 "$(grep -vc '%' "$scratch/err")"
grep -q 'the result is in' "$scratch/err" && ok "a reader that goes away: the result is named" ||
	not_ok "a reader that goes away: the result is named" "$scratch/err"

# ---- a result says which samples it was asked for

"$bin/rundown" run tests/traces/shop-small.nettrace.zst --process SHOP --from 1 --to 2 --kind managed -o "$scratch/f.rundown" \
	>"$scratch/out" 2>"$scratch/err"
for said in "$scratch/out" "$scratch/report"; do
	"$bin/rundown" report "$scratch/f.rundown" >"$scratch/report"
	is "filter: told in $(basename "$said")" 1 \
		"$(grep -c '^7,813 samples are outside the filter of the run (--process SHOP, --kind managed, from 1 s to 2 s)$' "$said")"
done
is "filter: in JSON" '{"process":"SHOP","kind":"managed","from_ns":1000000000,"to_ns":2000000000}' \
	"$("$bin/rundown" report "$scratch/f.rundown" --format json | jq -c .filter)"

plan
