#!/bin/sh
# The words of the command line: help that agrees with the man pages, and one clear line for each wrong word.
. tests/e2e/lib.sh
unset RUNDOWN_BROKER

# refused NAME PATTERN ARG...: exit code 2, nothing on stdout, one line on stderr.
refused()
{
	name=$1
	pattern=$2
	shift 2
	"$bin/rundown" "$@" >"$scratch/out" 2>"$scratch/err"
	is "$name: exit code" 2 $?
	is "$name: one line and nothing else" "1 0" "$(wc -l <"$scratch/err" | tr -d ' ') $(wc -c <"$scratch/out" | tr -d ' ')"
	grep -q -- "$pattern" "$scratch/err" && ok "$name: says why" || not_ok "$name: says why" "$scratch/err"
}

# agrees NAME PAGE BUT: $scratch/help has the options of the man page, with letters, arguments and choices; those BUT aside.
agrees()
{
	sed -n -e 's/^  \(-.\), --\([a-z-]*\)/\2 \1/p' -e 's/^      --\([a-z-]*\)/\1 -/p' "$scratch/help" |
		sed -e 's/^\([^ ]*\) \([^ ]*\)  *$/\1 \2/' \
			-e 's/^\([^ ]*\) \([^ ]*\) [A-Z]*  *\([a-z]*|[a-z|]*\): .*/\1 \2 \3/' \
			-e 's/^\([^ ]*\) \([^ ]*\) \([A-Z|]*\)\(  .*\)*$/\1 \2 \L\3/' \
			-e 's/^\([^ ]*\) \([^ ]*\)  .*/\1 \2/' |
		sed 's/ *$//' | grep -vx "\($3\) .*" | sort >"$scratch/options"
	grep '^\.It Fl' "$2" | sed -e 's/^\.It //' -e 's/Fl \([a-zA-Z]\) , Fl -\([a-z-]*\)/\2 -\1/' |
		sed -e 's/ , Fl -/\n/g' -e 's/^Fl -//' | sed -e 's/ Ar / /' -e 's/^\([^ ]*\) \([^-]\)/\1 - \2/' -e 's/^\([^ ]*\)$/\1 -/' |
		sort >"$scratch/man"
	diff "$scratch/options" "$scratch/man" >"$scratch/differ"
	check_empty "$1: the man page has the options of --help" "$scratch/differ"
	grep -q '^[a-z]' "$scratch/man" || not_ok "$1: the man page has options"
}

refused "no command" "which command?"
refused "unknown command" "no such command: 'reprot'; did you mean report?" reprot x
refused "an option without a command" "unknown option --foo" --foo
refused "a letter without a command" "unknown option -x" -x
refused "help about nothing" "no such command: 'nothing'" help nothing
for command in run report diff top inspect events keys capture-state il-map; do
	refused "$command: no word" "is missing (see rundown $command --help)" $command
	refused "$command: unknown option" "unknown option --nonsense" $command x --nonsense
	refused "$command: unknown letter" "unknown option -Z" $command -Z x
	refused "$command: a value for a flag" "--help takes no value" $command --help=1
	value=-o
	[ $command != keys ] || value=--add
	refused "$command: a missing value" "needs a value" $command x $value
	refused "$command: an empty word" "an empty" $command ""
	"$bin/rundown" $command --help >"$scratch/help" 2>"$scratch/err"
	is "$command: --help" 0 $?
	check_empty "$command: --help is not an error" "$scratch/err"
	"$bin/rundown" help $command | cmp -s - "$scratch/help" && ok "help $command is $command --help" || not_ok "help $command is $command --help"
	grep -q "^Examples:" "$scratch/help" && ok "$command: --help has examples" || not_ok "$command: --help has examples"
	is "$command: no line of --help is too long" "" "$(awk 'length > 112' "$scratch/help")"

	agrees "$command" "docs/man/rundown-$command.1" 'help\|version'
	grep -q "rundown-$command 1" docs/man/rundown.1 && ok "rundown(1) names $command" || not_ok "rundown(1) names $command"
done
for command in submit status result cancel retry; do
	[ $command = status ] || refused "$command: no word" "is missing (see rundown $command --help)" $command
	refused "$command: unknown option" "unknown option --nonsense" $command x --nonsense
	refused "$command: no broker" "--broker ENDPOINT is missing" $command x
	refused "$command: a relative socket" "ipc://broker: ipc wants a whole path, ipc:///FOLDER/NAME" $command x --broker ipc://broker
	refused "$command: plain tcp" "tcp needs --keys DIR" $command x --broker tcp://127.0.0.1:1
	"$bin/rundown" $command --help >"$scratch/help" 2>"$scratch/err"
	is "$command: --help" 0 $?
	check_empty "$command: --help is not an error" "$scratch/err"
	is "$command: no line of --help is too long" "" "$(awk 'length > 112' "$scratch/help")"
	agrees "$command" "docs/man/rundown-$command.1" 'help\|version'
	grep -q "rundown-$command 1" docs/man/rundown.1 && ok "rundown(1) names $command" || not_ok "rundown(1) names $command"
done
for program in broker merger worker; do
	"$bin/rundown-$program" --help >"$scratch/help" 2>"$scratch/err"
	is "$program: --help" 0 $?
	agrees "rundown-$program" "docs/man/rundown-$program.1" none
	is "$program: no line of --help is too long" "" "$(awk 'length > 112' "$scratch/help")"
	"$bin/rundown-$program" >"$scratch/out" 2>"$scratch/err"
	is "$program without words: exit code and one line" "2 1" "$? $(grep -c "is missing (see rundown-$program --help)" "$scratch/err")"
	at=--broker state=
	[ $program != broker ] || at=--listen
	[ $program != merger ] || state="--state $scratch/state"
	for path in broker ./broker @broker '*' ''; do
		"$bin/rundown-$program" $at "ipc://$path" $state >"$scratch/out" 2>"$scratch/err"
		is "$program, a relative socket '$path': exit code and one line" "2 1" \
			"$? $(grep -cF "ipc://$path: ipc wants a whole path, ipc:///FOLDER/NAME" "$scratch/err")"
	done
	for version in -V --version; do
		is "$program $version" "$("$bin/rundown" --version | sed "s/ /-$program /")" "$("$bin/rundown-$program" $version)"
	done
	grep -q "rundown-$program 1" docs/man/rundown.1 && ok "rundown(1) names $program" || not_ok "rundown(1) names $program"
done
if command -v groff >/dev/null; then
	for page in docs/man/*.1; do
		groff -mandoc -ww -Tutf8 "$page" 2>&1 >/dev/null
	done >"$scratch/wrong"
	check_empty "man pages have no fault that groff sees" "$scratch/wrong"
else
	skip "man pages have no fault that groff sees" "no groff"
fi
make -s install DESTDIR="$scratch/root" PREFIX=/usr >"$scratch/out" 2>&1 || not_ok "make install" "$scratch/out"
is "every program and page is installed" "$(ls docs/man; for p in rundown rundown-broker rundown-merger rundown-worker; do echo $p; done)" \
	"$(ls "$scratch/root/usr/share/man/man1"; ls "$scratch/root/usr/bin")"
refused "report: of two results" "--digest goes with one result only" report a b --digest
refused "report: --top of folded" "--top does not go with --format folded" report a --format folded --top 3
refused "report: a filter of the digest" "--digest is of the whole result" report a --digest --kind cpu
refused "report: no number" "--top: 'many' is not a number" report a --top many
refused "report: no time" "--from: 'noon' is not seconds" report a --from noon
refused "report: --inverted rows" "--inverted turns stacks around: it does not go with --format csv" report a --format csv --inverted
refused "report: --inverted rows of JSON" "does not go with --format json without --stacks" report a --format json --inverted
refused "report: --stacks of text" "--stacks does not go with --format text" report a --stacks
refused "report: --sort direct of nothing" "--sort direct needs --callers or --callees" report a --sort direct
refused "report: too much" "--min: more than 100 %" report a --min 101%
refused "report: no share" "--min: 'much' is not a number or a part such as 0.5%" report a --min much
refused "report: a view of the digest" "--digest is of the whole result" report a --digest --focus b
refused "report: no such form" "--format: 'xml' is none of text, json, csv, folded" report a --format xml

is "--version" 0 "$("$bin/rundown" --version | grep -cvxE 'rundown [0-9]+\.[0-9]+\.[0-9]+')"
is "--version of a command" "$("$bin/rundown" --version)" "$("$bin/rundown" report --version)"
is "-V" "$("$bin/rundown" --version)" "$("$bin/rundown" -V)"
is "-V of a command" "$("$bin/rundown" --version)" "$("$bin/rundown" inspect -V)"
"$bin/rundown" help >/dev/full 2>&1
is "help to a full disk" 1 $?
# ---- what the page of the design says is in the house is there

sed -n '/^```$/,/^```$/{s,^\([a-z][a-z]*/\) .*,\1,p}' docs/design.md | sort -u |
	while read -r room; do [ -d "$room" ] || echo "$room"; done >"$scratch/missing"
check_empty "design: every folder of the house is there" "$scratch/missing"
sed -n 's/.*`make \([a-z][a-z-]*\)`.*/\1/p' docs/design.md README.md | sort -u |
	while read -r target; do grep -q "^$target:" Makefile || echo "make $target"; done >"$scratch/missing"
check_empty "design and README: every target named is one of the Makefile's" "$scratch/missing"

plan
