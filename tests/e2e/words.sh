#!/bin/sh
# The words of the command line: help that agrees with the man pages, and one clear line for each wrong word.
. tests/e2e/lib.sh

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

refused "no command" "which command?"
refused "unknown command" "no such command: 'reprot'; did you mean report?" reprot x
refused "help about nothing" "no such command: 'nothing'" help nothing
for command in run report inspect; do
	refused "$command: no word" "is missing (see rundown $command --help)" $command
	refused "$command: unknown option" "unknown option --nonsense" $command x --nonsense
	refused "$command: unknown letter" "unknown option -Z" $command -Z x
	refused "$command: a value for a flag" "--help takes no value" $command --help=1
	refused "$command: a missing value" "needs a value" $command x -o
	refused "$command: an empty word" "an empty" $command ""
	"$bin/rundown" $command --help >"$scratch/help" 2>"$scratch/err"
	is "$command: --help" 0 $?
	check_empty "$command: --help is not an error" "$scratch/err"
	"$bin/rundown" help $command | cmp -s - "$scratch/help" && ok "help $command is $command --help" || not_ok "help $command is $command --help"
	grep -q "^Examples:" "$scratch/help" && ok "$command: --help has examples" || not_ok "$command: --help has examples"
	is "$command: no line of --help is too long" "" "$(awk 'length > 112' "$scratch/help")"

	# The same options in the help and in the man page, by name.
	sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' "$scratch/help" | grep -vx 'help\|version' | sort >"$scratch/options"
	grep '^\.It Fl' "docs/man/rundown-$command.1" | grep -o 'Fl -[a-z-]*' | sed 's/Fl -//' | sort >"$scratch/man"
	diff "$scratch/options" "$scratch/man" >"$scratch/differ"
	check_empty "$command: the man page has the options of --help" "$scratch/differ"
	grep -q "rundown-$command 1" docs/man/rundown.1 && ok "rundown(1) names $command" || not_ok "rundown(1) names $command"
done
refused "report: two results" "one word too many: 'b'" report a b
refused "report: --top of folded" "--top does not go with --format folded" report a --format folded --top 3
refused "report: a filter of the digest" "--digest is of the whole result" report a --digest --kind cpu
refused "report: no number" "--top: 'many' is not a number" report a --top many
refused "report: no time" "--from: 'noon' is not seconds" report a --from noon
refused "report: no such form" "--format: 'xml' is none of text, json, csv, folded" report a --format xml

is "--version" 0 "$("$bin/rundown" --version | grep -cvxE 'rundown [0-9]+\.[0-9]+\.[0-9]+')"
is "--version of a command" "$("$bin/rundown" --version)" "$("$bin/rundown" report --version)"
"$bin/rundown" help >/dev/full 2>&1
is "help to a full disk" 1 $?
plan
