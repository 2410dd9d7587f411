# What the e2e scripts share; sourced, not run. They run in the root of the repository.
# A case is a line of TAP: ok, not ok, or ok … # skip WHY.

shared=${RD_SHARED:-../shared}
bin=${RD_BIN:-build/bin}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/rundown-e2e-XXXXXX") || exit 1
trap 'chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
cases=0
# For jq: what a report calls a method of its JSON.
called='def called: (if .module == "" then "" elif .namespace + .name == "" then .module else .module + "!" end) + .namespace +
	(if .namespace == "" or .name == "" then "" else "." end) + .name +
	(if .signature | contains("(") then "(" + (.signature | split("(")[1:] | join("(")) else "" end);'

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

# left NAME: of runs with TMPDIR $scratch/tmp and results in $scratch/work no private folder, no half-written result, no process is left.
left()
{
	{
		ls "$scratch/tmp"
		ls -A "$scratch/work" | grep -v '\.rundown$\|\.nettrace$\|\.zst$'
		members "$scratch/tmp"
	} >"$scratch/left"
	check_empty "$1: nothing is left" "$scratch/left"
}

# members FOLDER: daemons of ours, and what they forked, with this TMPDIR.
members()
{
	for p in /proc/[0-9]*; do
		case $(cat "$p/comm" 2>/dev/null) in
		rundown-[bmwpf]*)
			{ tr '\0' '\n' <"$p/environ"; } 2>/dev/null | grep -qx "TMPDIR=$1" &&
				echo "${p#/proc/} $(cat "$p/comm" 2>/dev/null)"
			;;
		esac
	done
}

# child PID NAME: the pid of a child with this name, as soon as there is one.
child()
{
	tries=0
	while [ $tries -lt 200 ]; do
		for p in /proc/[0-9]*/stat; do
			# pid (comm) state ppid …
			{ read -r line <"$p"; } 2>/dev/null || continue
			case $line in
			*"($2) "?" $1 "*)
				echo "${line%% *}"
				return
				;;
			esac
		done
		tries=$((tries + 1))
		sleep 0.01
	done
}

# block NAME PAGE: the script that stands in a page between "```sh NAME" and "```".
block()
{
	sed -n "/^\`\`\`sh $1\$/,/^\`\`\`\$/p" "$2" | sed '1d;$d'
}

# until_ok COMMAND...: again and again until it succeeds, at most ten seconds.
until_ok()
{
	tries=500
	while ! "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.02
	done
}

# line TEXT FILE: whether it is there.
line()
{
	grep -q "$1" "$2"
}

# start NAME PROGRAM WORDS...: in the background; pid in $pid, its stderr in $scratch/NAME.
start()
{
	name=$1 program=$2
	shift 2
	"$bin/$program" "$@" >/dev/null 2>"$scratch/$name" &
	pid=$!
}

# ended NAME WANTED PID: its exit code, within ten seconds. gone PID: whether it has ended.
gone()
{
	! kill -0 "$1" 2>/dev/null || [ "$(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null)" = Z ]
}
ended()
{
	until_ok gone "$3" || kill -9 "$3"
	wait "$3" 2>/dev/null
	is "$1: exit code" "$2" $?
}

# The plan of TAP, last: a script that ends before this line has failed.
plan()
{
	echo "1..$cases"
}
