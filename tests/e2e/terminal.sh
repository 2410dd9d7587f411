#!/bin/sh
# On a terminal: a pager and colours. In pipes and files: nothing of it. (report.sh has the width.)
. tests/e2e/lib.sh

command -v script >/dev/null || {
	skip "a terminal" "no script(1)"
	plan
	exit
}
LC_ALL=C.UTF-8
TERM=xterm
export LC_ALL TERM
unset PAGER RUNDOWN_PAGER LESS NO_COLOR COLUMNS
escape=$(printf '\033')
r=$scratch/r
"$bin/rundown" run tests/traces/shop-small.nettrace.zst -o "$r" -q
"$bin/rundown" run tests/traces/site-crashed.nettrace.zst -o "$scratch/crashed" -q 2>/dev/null

# on_terminal COLUMNS COMMAND...: its output on a terminal that wide, in $scratch/out; its exit code on the last line.
on_terminal()
{
	columns=$1
	shift
	SHELL=/bin/sh script -qec "stty cols $columns; $*; echo \"code \$?\"" /dev/null </dev/null | tr -d '\r' >"$scratch/out"
}

# ---- the pager

RUNDOWN_PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown report $r --top 5"
is "a report goes through the pager, and its exit code is its own" "0 code 0" \
	"$(sed '$d' "$scratch/out" | grep -cv '^P:') $(tail -n 1 "$scratch/out")"
RUNDOWN_PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown diff $r $scratch/crashed"
is "a difference, of an incomplete input" "0 code 3" "$(sed '$d' "$scratch/out" | grep -cv '^P:') $(tail -n 1 "$scratch/out")"
RUNDOWN_PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown top $r"
is "a trend" "0 code 0" "$(sed '$d' "$scratch/out" | grep -cv '^P:') $(tail -n 1 "$scratch/out")"
PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown report $r --format folded"
is "what is for programs does not" 0 "$(grep -c '^P:' "$scratch/out")"
PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown report $r --no-pager"
is "--no-pager" 0 "$(grep -c '^P:' "$scratch/out")"
RUNDOWN_PAGER='' PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown report $r"
is "no pager is wanted, though others use one" 0 "$(grep -c '^P:' "$scratch/out")"
PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown report $r | cat"
is "nor in a pipe" 0 "$(grep -c '^P:' "$scratch/out")"
PAGER='sed s/^/P:/' on_terminal 80 "$bin/rundown report $r -o $scratch/file && cat $scratch/file"
is "nor into a file" 0 "$(grep -c '^P:' "$scratch/out")"
PAGER='sed s/^/P:/' TERM=dumb on_terminal 80 "$bin/rundown report $r"
is "nor where the terminal can show nothing" 0 "$(grep -c '^P:' "$scratch/out")"
PAGER='head -n 1' on_terminal 80 "$bin/rundown report $r --top 0"
is "who has seen enough may leave" "2 code 0" "$(wc -l <"$scratch/out" | tr -d ' ') $(tail -n 1 "$scratch/out")"
PAGER='no-such-pager' on_terminal 80 "$bin/rundown report $r"
is "a pager that is none" "1 code 1" "$(grep -c 'rundown report: the pager cannot be run' "$scratch/out") $(tail -n 1 "$scratch/out")"
if command -v less >/dev/null; then
	on_terminal 200 "$bin/rundown report $r --top 2"
	is "less, by itself, leaves a short text on the screen" "1 1" "$(grep -c 'code 0$' "$scratch/out") $(grep -c '2 of 749 methods' "$scratch/out")"
else
	skip "less" "there is none"
fi
mkdir "$scratch/path"
on_terminal 80 "PATH=$scratch/path $(realpath "$bin")/rundown report $r --top 2"
is "without less it goes to the terminal as it is" "code 0" "$(tail -n 1 "$scratch/out")"

# ---- colours

colours()
{
	grep -c "$escape\[" "$scratch/out"
}
on_terminal 80 "$bin/rundown report $r --no-pager"
is "colours on a terminal" true "$([ "$(colours)" -gt 5 ] && echo true)"
NO_COLOR=1 on_terminal 80 "$bin/rundown report $r --no-pager"
is "NO_COLOR" 0 "$(colours)"
NO_COLOR='' on_terminal 80 "$bin/rundown report $r --no-pager"
is "an empty NO_COLOR is none" true "$([ "$(colours)" -gt 5 ] && echo true)"
on_terminal 80 "$bin/rundown report $r --no-pager --color never"
is "--color never" 0 "$(colours)"
on_terminal 80 "$bin/rundown report $r | cat"
is "none in a pipe" 0 "$(colours)"
"$bin/rundown" report "$r" --color always >"$scratch/out"
is "--color always" true "$([ "$(colours)" -gt 5 ] && echo true)"
sed "s/$escape\[[0-9;]*m//g" "$scratch/out" >"$scratch/bare"
"$bin/rundown" report "$r" | cmp - "$scratch/bare" >"$scratch/differ" 2>&1
check_empty "colours are all that is added" "$scratch/differ"
"$bin/rundown" report "$r" --format json --color always >"$scratch/out"
is "none in what is for programs" 0 "$(colours)"
"$bin/rundown" report "$scratch/crashed" --color always >"$scratch/out"
is "what is not whole is red" 1 "$(grep -c "^$escape\[31mtrust: incomplete" "$scratch/out")"
"$bin/rundown" diff "$r" "$scratch/crashed" --color always >"$scratch/out"
is "more is red, less is green, no more than noise is neither" "true true 0" "$(grep " yes " "$scratch/out" | grep -qF "$escape[31m" && echo true) $(
	grep " yes " "$scratch/out" | grep -qF "$escape[32m" && echo true) $(grep "  no  " "$scratch/out" | grep -cF "$escape[3")"
plan
