#!/bin/sh
# `rundown capture-state`: what it writes it reads, a compiler reads its C, and each wrong word has its line.
. tests/e2e/lib.sh
capture="$bin/rundown capture-state"
runtime=Microsoft-Windows-DotNETRuntime
guid=e13c0d23-ccbc-4e12-931b-d9cc2eee27e4
other=12345678-9abc-def0-1122-334455667788

# ---- there and back

$capture encode --every 60 --provider $runtime --provider $other -o "$scratch/minute" 2>"$scratch/err"
is "encode" 0 $?
is "encode: an unknown GUID is a note" "rundown capture-state: note: $other is no provider that rundown knows" "$(cat "$scratch/err")"
is "encode: the bytes" "3c00000002000000230d3ce1bccc124e931bd9cc2eee27e478563412bc9af0de1122334455667788" \
	"$(od -An -v -tx1 "$scratch/minute" | tr -d ' \n')"
$capture encode --every 1m --provider $guid --provider $other 2>/dev/null | cmp -s - "$scratch/minute" &&
	ok "encode: a name and its GUID, a minute and its seconds" || not_ok "encode: a name and its GUID, a minute and its seconds"
$capture encode --every 60 --provider "{$guid}" --provider "{$other}" 2>/dev/null | cmp -s - "$scratch/minute" &&
	ok "encode: GUIDs in braces" || not_ok "encode: GUIDs in braces"
$capture encode --every 60 --provider $runtime --provider $other --format hex 2>/dev/null | tr -d ' \n' >"$scratch/hex"
is "encode: hex is the same bytes" "$(od -An -v -tx1 "$scratch/minute" | tr -d ' \n')" "$(cat "$scratch/hex")"
is "decode: json" "60 $guid $runtime $other null" \
	"$($capture decode "$scratch/minute" --format json | jq -r '"\(.every_s) \(.providers[0].guid) \(.providers[0].name) \(.providers[1].guid) \(.providers[1].name)"')"
is "decode: text" "every 60 s, 2 providers" "$($capture decode "$scratch/minute" | head -n 1)"
is "check: good" "true 0 1" "$($capture check "$scratch/minute" --format json | jq -r '"\(.good) \(.faults | length) \(.notes | length)"')"

$capture encode --disable -o "$scratch/off"
is "disable: exit code and no bytes" "0 0" "$? $(wc -c <"$scratch/off" | tr -d ' ')"
is "disable: decode and check" "off good: off" "$($capture decode "$scratch/off") $($capture check "$scratch/off")"
is "disable: json" "false null 0" "$($capture decode "$scratch/off" --format json | jq -r '"\(.on) \(.every_s) \(.providers | length)"')"

for what in minute off; do
	words="--every 60 --provider $runtime --provider $other"
	[ $what = minute ] || words=--disable
	{
		echo '#include <stdio.h>'
		$capture encode $words --format c 2>/dev/null
		echo 'int main(void) { return fwrite(capture_state, 1, capture_state_size, stdout) == capture_state_size ? 0 : 1; }'
	} >"$scratch/$what.c"
	[ $what = minute ] || sed -i 's/fwrite(capture_state,/capture_state == 0 \&\& fwrite("",/' "$scratch/$what.c"
	"${CC:-cc}" -Wall -Werror -o "$scratch/$what.bin" "$scratch/$what.c" 2>"$scratch/err"
	"$scratch/$what.bin" >"$scratch/again"
	cmp -s "$scratch/again" "$scratch/$what" && ok "$what: as C it is the same bytes" || not_ok "$what: as C it is the same bytes" "$scratch/err"
done

# ---- what is wrong

$capture check tests/fuzz/corpus/capture/reserved --format json >"$scratch/out" 2>"$scratch/err"
is "check: exit code" 1 $?
is "check: every fault by its byte" "false 0 6 8 24 40 56" "$(jq -r '"\(.good) \([.faults[].offset | tostring] | join(" "))"' "$scratch/out")"
is "check: the first on stderr" 1 "$(grep -c 'every 0 seconds (.*/reserved, at byte 0)' "$scratch/err")"
$capture decode tests/fuzz/corpus/capture/twice >"$scratch/out" 2>"$scratch/err"
is "decode: a duplicate: exit code, nothing said" "1 0" "$? $(wc -c <"$scratch/out" | tr -d ' ')"
is "decode: a duplicate: why" 1 "$(grep -c 'is provider 1 again (.*at byte 24)' "$scratch/err")"
head -c 1048577 /dev/zero >"$scratch/long"
$capture check "$scratch/long" >"$scratch/out" 2>"$scratch/err"
is "check: absurdly long" "1 1" "$? $(grep -c 'longer than any capture state' "$scratch/err")"
is "check: the rundown provider does not answer" 1 \
	"$($capture check tests/fuzz/corpus/capture/minute | grep -c 'note: .*Rundown does not answer')"

# refused NAME PATTERN ARG...: exit code 2, one line, no file.
refused()
{
	name=$1 pattern=$2
	shift 2
	$capture "$@" -o "$scratch/refused" 2>"$scratch/err"
	is "$name" "2 1" "$? $(grep -c -- "$pattern" "$scratch/err")"
	[ ! -e "$scratch/refused" ] || not_ok "$name: a file was written"
}
refused "no such verb" "'recode' is none of encode, decode, check" recode
refused "no time" "--every TIME is missing" encode --provider $runtime
refused "no provider" "--provider NAME|GUID is missing" encode --every 60
refused "half a second" "too small" encode --every 0.5 --provider $runtime
refused "seconds and a half" "whole seconds only" encode --every 1.5 --provider $runtime
refused "a century and more" "too large" encode --every 4294967296 --provider $runtime
refused "no such name" "'CLR' is no GUID" encode --every 60 --provider CLR
refused "a provider twice" "is provider 1 again" encode --every 60 --provider $runtime --provider $guid
refused "a GUID of zeros" "a GUID of zeros" encode --every 60 --provider 00000000-0000-0000-0000-000000000000
refused "off, and on" "--disable goes without" encode --disable --every 60
refused "a bare provider" "each provider has a --provider" encode --every 60 --provider $runtime $other
refused "no file" "which FILE" decode
refused "two files" "one word too many" check a b
refused "a form of the other" "decode has no --format hex" decode a --format hex
refused "a form of the others" "encode has no --format json" encode --disable --format json
refused "options of encode" "go with encode only" check a --every 60
plan
