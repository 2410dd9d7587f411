# What the e2e scripts share; sourced, not run. They run in the root of the repository.
# A case is a line of TAP: ok, not ok, or ok … # skip WHY.

shared=${RD_SHARED:-../shared}
bin=${RD_BIN:-build/bin}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rundown-e2e-XXXXXX") || exit 1
trap 'chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cases=0

# ok NAME: passed.   not_ok NAME [FILE]: failed, with what FILE says.   skip NAME WHY
ok()
{
	cases=$((cases + 1))
	echo "ok $cases - $1"
}

not_ok()
{
	cases=$((cases + 1))
	echo "not ok $cases - $1"
	[ -z "${2:-}" ] || sed -n '1,20s/^/# /p' "$2"
}

skip()
{
	cases=$((cases + 1))
	echo "ok $cases - $1 # skip $2"
}

# check NAME FILE: passed when FILE is empty, as a comparison leaves it.
check_empty()
{
	if [ -s "$2" ]; then not_ok "$1" "$2"; else ok "$1"; fi
}

# is NAME WANTED GOT
is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		printf 'wanted: %s\ngot:    %s\n' "$2" "$3" >"$scratch/is"
		not_ok "$1" "$scratch/is"
	fi
}

# The plan of TAP, last: a script that ends before this line has failed.
plan()
{
	echo "1..$cases"
}
