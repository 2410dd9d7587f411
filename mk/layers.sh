#!/bin/sh
# layers.sh - the layer law of docs/design.md, by the #include lines. Prints each breach; silent when there is none.
set -eu

status=0
breach()
{
	echo "layers: $1" >&2
	status=1
}

files()
{
	for folder; do
		[ ! -e "$folder" ] || find "$folder" -name '*.[ch]'
	done
}

# allow ROOM OTHER...: the only rooms of ours that ROOM may include.
allow()
{
	room=$1
	shift
	allowed=$(echo "$room" "$@" | tr ' ' '|')
	for file in $(files "$room"); do
		found=$(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" |
			grep -vE "\"($allowed)/" || :)
		[ -z "$found" ] || breach "$file may include ($allowed) only: $found"
	done
}

# forbid REGEX WHY ROOM...
forbid()
{
	regex=$1
	why=$2
	shift 2
	for file in $(files "$@"); do
		# Comment lines speak of anything.
		found=$(grep -nE "$regex" "$file" | grep -vE '^[0-9]+:[[:space:]]*(/\*|\*|//)' || :)
		[ -z "$found" ] || breach "$file: $why: $found"
	done
}

allow base
allow trace base
allow profile trace proto base
allow store profile base
allow net proto base
allow capture base
allow symbols base

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*'
forbid "$include[<\"](zmq|czmq|lmdb)" "neither sockets nor databases here" base trace profile
# trace/unmerged.h knows file names only.
forbid "$include\"trace/(un[^m]|u[^n]|[^u])" "the broker never opens a trace" broker

# Libraries neither print nor exit; base/log.c is the one that writes to stderr.
word='(^|[^A-Za-z0-9_])'
forbid "$word(v?printf|puts|putchar|perror|v?fprintf|fputs|fputc|putc|v?dprintf|fwrite|syslog)[[:space:]]*\\(" \
	"a library does not print" $(find base -name '*.[ch]' ! -name 'log.[ch]') trace profile store net capture symbols
forbid "$word(_?exit|_Exit|quick_exit|abort|errx?|warnx?)[[:space:]]*\\(" "a library does not exit" \
	base trace profile store net capture symbols

exit $status
