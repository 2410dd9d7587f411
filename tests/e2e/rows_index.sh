#!/bin/sh
# The table of tests/README.md names every test of a user's report, and nothing else.
. tests/e2e/lib.sh

# names FILE...: each on a line; row_NN_ and what follows.
names()
{
	grep -rhoE '\brow_[0-9]{2}_[a-z0-9_]+' "$@" | sort -u
}

names --include='*.c' --include='*.sh' --include='*.py' --exclude=rows_index.sh tests >"$scratch/tests"
names tests/README.md >"$scratch/table"
is "there are tests of reports" 1 "$([ "$(wc -l <"$scratch/tests")" -gt 30 ] && echo 1)"
diff "$scratch/table" "$scratch/tests" | sed -n -e 's/^</only in the table:/p' -e 's/^>/not in the table:/p' >"$scratch/differ"
check_empty "the table has every test of a report" "$scratch/differ"
# A name stands in the line of its row.
sed -n 's/^| \([0-9]*\) |.*| \(`row.*\) |$/\1 \2/p' tests/README.md |
	while read -r row rest; do
		for name in $rest; do
			echo "$name" | grep -q "row_0*${row}_" || echo "$name in row $row"
		done
	done >"$scratch/wrong"
check_empty "each in the line of its row" "$scratch/wrong"

plan
