# The table of docs/reliability.md names every fault's tests: each is there, and each fault_NN of the scripts is in its row.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

page=docs/reliability.md
sed -n 's/^| \([0-9][0-9-]*\) | .*/&/p' $page >"$scratch/rows"
rows=$(sed 's/^| \([0-9]*\) |.*/\1/' "$scratch/rows" | tr '\n' ' ')
is "a row for each fault" "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 22 23 24 25 26 27 28 29 30 32 34 35 " "$rows"

while IFS='|' read -r _ row _ tests _; do
	row=$(echo "$row" | tr -d ' ')
	names=$(echo "$tests" | grep -oE '`[^`]+`' | tr -d '`')
	[ -n "$names" ] || echo "row $row names no test"
	for name in $names; do
		case $name in
		fault_*)
			echo "$name" | grep -q "^fault_0*${row}\(_\|$\)" || echo "$name in row $row"
			grep -rqw -- "$name" tests/faults || grep -rq -- "${name}_\\$" tests/faults || echo "no $name"
			;;
		tests/*:*)
			grep -qw -- "${name#*:}" "${name%%:*}" 2>/dev/null || echo "no $name"
			;;
		*) [ -e "$name" ] || echo "no $name" ;;
		esac
	done
done <"$scratch/rows" >"$scratch/wrong"
check_empty "the table's tests are there, in their rows" "$scratch/wrong"

grep -ohE 'fault_[0-9]{2}(_[a-z]+)*' tests/faults/*.sh | sort -u | while read -r name; do
	grep -q -- "$name" $page || echo "not in $page: $name"
done >"$scratch/wrong"
check_empty "the table has every fault of the scripts" "$scratch/wrong"
plan
