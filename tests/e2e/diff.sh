#!/bin/sh
# diff over two real results: against itself, the numbers of every form, and the gate.
. tests/e2e/lib.sh

a=$scratch/a.rundown
b=$scratch/b.rundown
"$bin/rundown" run tests/traces/shop-small.nettrace.zst -o "$a" -q >"$scratch/out" 2>&1 || not_ok "a result" "$scratch/out"
"$bin/rundown" run tests/traces/site-crashed.nettrace.zst -o "$b" -q >"$scratch/out" 2>&1
is "a result of a crashed process" 3 $?

# diff NAME EXIT ARG...: into $scratch/out and $scratch/err
compare()
{
	name=$1
	wanted=$2
	shift 2
	"$bin/rundown" diff "$@" >"$scratch/out" 2>"$scratch/err"
	is "$name: exit code" "$wanted" $?
}

# ---- against itself

for how in "" "--by stack" "--count inclusive" "--normalise time" "--normalise none" "--group namespace" "--tiers"; do
	compare "itself $how" 0 "$a" "$a" --format json --fail-over 0% $how
	is "itself $how: zeros" "[0,0,0,0,0,false]" "$(jq -c '[([(.methods // .stacks)[] | .difference | fabs] | add),
		([(.methods // .stacks)[].relative | fabs] | add), .new, .gone, .test.significant, .failed]' "$scratch/out")"
	is "itself $how: all samples" "$(jq .before.samples "$scratch/out")" "$(jq '.all.exclusive_after' "$scratch/out")"
done
is "itself: exclusive counts sum to the samples" "9065 9065" \
	"$("$bin/rundown" diff "$a" "$a" --format json | jq -r '[([.methods[].exclusive_before] | add), ([.methods[].exclusive_after] | add)] | join(" ")')"

# ---- two programs

compare json 3 "$a" "$b" --format json --count inclusive
for side in before after; do
	[ $side = before ] && r=$a || r=$b
	"$bin/rundown" report "$r" --format json >"$scratch/report" 2>/dev/null
	is "$side: its samples" "$(jq .samples "$scratch/report")" "$(jq .$side.samples "$scratch/out")"
	is "$side: exclusive counts sum to them" "$(jq .samples "$scratch/report")" "$(jq "[.methods[].exclusive_$side] | add" "$scratch/out")"
	# One process each, so that a row is a row of the report, runtimes aside.
	is "$side: the counts of each method" "" "$(jq -r --slurpfile r "$scratch/report" --arg side $side '
		def key: [.module, .namespace, .name, .signature] | tojson;
		($r[0].methods | group_by(key) | map({key: (.[0] | key), value: {e: (map(.exclusive) | add), i: (map(.inclusive) | max)}}) | from_entries) as $of |
		.methods[] | select((.["exclusive_" + $side] != ($of[key].e // 0)) or (.["inclusive_" + $side] < ($of[key].i // 0))) | key' "$scratch/out" | head -5)"
done
is "json: shares are of the samples" true "$(jq '. as $d | [.methods[] | (.before * $d.before.denominator - .inclusive_before) | fabs] | max < 1e-6' "$scratch/out")"
is "json: new and gone" "$(jq -c '[.new, .gone]' "$scratch/out")" \
	"$(jq -c '[([.methods[] | select(.state == "new")] | length), ([.methods[] | select(.state == "gone")] | length)]' "$scratch/out")"
compare csv 3 "$a" "$b" --format csv --count inclusive
is "csv: a row a method" "$(($("$bin/rundown" diff "$a" "$b" --format json --count inclusive | jq '.methods | length') + 1))" "$(wc -l <"$scratch/out" | tr -d ' ')"
compare text 3 "$a" "$b"
grep -q "^counts are exclusive samples; percentages are of the 9,065 samples before and of the [0-9,]* after, points their difference$" "$scratch/out" &&
	ok "text: the denominators" || not_ok "text: the denominators" "$scratch/out"
grep -q "two-proportion z-test, Holm's correction, 5 %" "$scratch/out" && ok "text: the test" || not_ok "text: the test" "$scratch/out"
is "text: 30 rows" 30 "$(grep -cE '  (yes|no |few)  ' "$scratch/out")"

# ---- views and the gate

compare "a view" 0 "$a" "$a" --format json --focus '^shop!' --group module --from 0 --to 2
is "a view: fewer samples" "true" "$(jq '.before.samples > 0 and .before.samples < 9065 and (.methods | all(.namespace == ""))' "$scratch/out")"
compare "nothing passes" 0 "$a" "$a" --focus 'no such method'
grep -q "note: the first result has no samples that pass the filter" "$scratch/err" && ok "nothing passes: says so" || not_ok "nothing passes: says so" "$scratch/err"
compare "the gate fails" 4 "$a" "$b" --fail-over 1% -o "$scratch/diff.txt"
is "the gate: one line" 1 "$(grep -c '^rundown diff: worse: .*: +[0-9.]* % of all, more than 1 %$' "$scratch/err")"
[ -s "$scratch/diff.txt" ] && ok "the gate: the difference is there all the same" || not_ok "the gate: the difference is there all the same"
compare "the gate holds" 3 "$a" "$b" --fail-over 100%
compare "less is no failure" 0 "$a" "$a" --fail-over 0% --normalise time

# --min leaves out what has few samples on both sides, and tests the less.
compare "--min" 3 "$a" "$b" --format json --min 50
is "--min: what has 50 on neither side is left out, all else is there" "true" "$(jq '(.methods | all([.inclusive_before, .inclusive_after] | max >= 50)) and
	.left_out > 100 and (.test.tested > 0)' "$scratch/out")"
"$bin/rundown" diff "$a" "$b" --format json >"$scratch/whole" 2>/dev/null
is "--min: rows left out and shown are all" "$(jq '.methods | length' "$scratch/whole")" "$(jq '(.methods | length) + .left_out' "$scratch/out")"
compare "--min: of stacks, in parts, as text" 3 "$a" "$b" --by stack --min 1%
grep -q 'with fewer samples than --min;' "$scratch/out" && ok "--min: says so" || not_ok "--min: says so" "$scratch/out"
compare "--inverted" 3 "$a" "$b" --by stack --inverted --format json
"$bin/rundown" diff "$a" "$b" --by stack --format json >"$scratch/whole" 2>/dev/null
is "--inverted: the same stacks the other way round" "true" "$(jq -n --slurpfile x "$scratch/whole" --slurpfile y "$scratch/out" '
	def stacks: [.[0].stacks[] | select(.exclusive_before + .exclusive_after > 0)]; ($x | stacks | map(.stack | reverse) | sort) == ($y | stacks | map(.stack) | sort)')"

# ---- wrong words

for words in "--by stack" "--top 3" "--min 3" "--inverted"; do
	# Word by word.
	# shellcheck disable=SC2086
	compare "--format html $words" 2 "$a" "$b" --format html $words
done
compare "--inverted by method" 2 "$a" "$b" --inverted
compare "--min of more than all" 2 "$a" "$b" --min 101%

compare "no such result" 1 "$a" "$scratch/nothing"
compare "one word" 2 "$a"
compare "no part" 2 "$a" "$a" --fail-over 5
grep -q -- "--fail-over is a part of all, such as 5%" "$scratch/err" && ok "no part: says so" || not_ok "no part: says so" "$scratch/err"
compare "no pattern" 2 "$a" "$a" --focus 'a(b'
compare "no such process" 1 "$a" "$b" --process shop
grep -q "b.rundown" "$scratch/err" && ok "no such process: says of which" || not_ok "no such process: says of which" "$scratch/err"
plan
