#!/bin/sh
# `rundown il-map convert`: both directions, from words and from stdin, and each wrong word has its line.
. tests/e2e/lib.sh
convert="$bin/rundown il-map convert"
corpus=tests/fuzz/corpus/il_map

is "to new" "0 0 10 10 20 20" "$($convert --to-new $corpus/three 0 4 5 8 9 2147483647 | tr '\n' ' ' | sed 's/ $//')"
is "to old" "0 0 5 5 9 9" "$($convert --to-old $corpus/three 0 9 10 19 20 1000 | tr '\n' ' ' | sed 's/ $//')"
is "from stdin" "0 5 9 0" "$(printf '9 10\r\n\t20\n\n0' | $convert $corpus/three --to-old | tr '\n' ' ' | sed 's/ $//')"
printf '' | $convert --to-old $corpus/three >"$scratch/out"
is "nothing from stdin" "0 0" "$? $(wc -c <"$scratch/out" | tr -d ' ')"
$convert --to-new $corpus/three 6 -o "$scratch/file"
is "to a file" "0 10" "$? $(cat "$scratch/file")"

# bad NAME MAP PATTERN: exit code 1, nothing on stdout, one line that names the file.
bad()
{
	$convert --to-new "$2" 1 >"$scratch/out" 2>"$scratch/err"
	is "$1" "1 0 1" "$? $(wc -c <"$scratch/out" | tr -d ' ') $(grep -c -- "$3" "$scratch/err")"
}
: >"$scratch/empty"
head -c 12582924 /dev/zero >"$scratch/long"
bad "an empty map" "$scratch/empty" "without entries covers no offset (.*/empty, at byte 0)"
bad "a map that is cut" $corpus/cut "ends inside entry 1, .*at byte 12)"
bad "a start that is not covered" $corpus/start "(0, 4) and not (0, 0).*at byte 0)"
bad "not sorted" $corpus/unsorted "entry 2: the old offset 5 is not above 9.*at byte 24)"
bad "reordered" $corpus/reordered "entry 2: the new offset 10 is not above 20.*at byte 28)"
bad "an offset that is none" $corpus/absurd "entry 1: the old offset 2147483648 is above.*at byte 12)"
bad "absurdly long" "$scratch/long" "more than 1048576 entries"
bad "no file" "$scratch/nothing" "cannot open.*nothing"
bad "a folder" "$scratch" "Is a directory"
for words in x -1 2147483648 '5\0006'; do
	printf "7 $words" | $convert --to-new $corpus/three -o "$scratch/none" 2>"$scratch/err"
	is "stdin: $words" "1 1" "$? $(grep -c 'no offset.*(stdin)' "$scratch/err")"
	[ ! -e "$scratch/none" ] || not_ok "stdin: $words: a file was written"
done

# refused NAME PATTERN ARG...: exit code 2, one line.
refused()
{
	name=$1 pattern=$2
	shift 2
	"$bin/rundown" il-map "$@" 2>"$scratch/err"
	is "$name" "2 1" "$? $(grep -c -- "$pattern" "$scratch/err")"
}
refused "no such verb" "'revert' is not convert" revert --to-new $corpus/three
refused "no map" "which MAP?" convert --to-new
refused "no direction" "one of --to-new and --to-old" convert $corpus/three 1
refused "two directions" "one of --to-new and --to-old" convert --to-new --to-old $corpus/three 1
refused "no number" "'IL_0001' is no offset" convert --to-new $corpus/three IL_0001
refused "too large" "'2147483648' is no offset" convert --to-new $corpus/three 2147483648
plan
