#!/bin/sh
# coverage.sh FOLDER ROOM... - the share of lines that the tests ran, a line a room, from a COVERAGE=1 build in FOLDER.
set -eu

objects=$1
shift
for room; do
	[ ! -d "$objects/$room" ] ||
		find "$objects/$room" -name '*.gcda' -exec gcov -n {} + 2>/dev/null |
		awk -v room="$room" -v quote="'" '
		$1 == "File" { split($0, part, quote); ours = part[2] ~ "^" room "/.*[.]c$" }
		ours && /^Lines executed:/ { split($2, share, /[:%]/); n = $4; hit += share[2] * n / 100; lines += n; ours = 0 }
		END { if (lines) printf "  %-10s %5.1f %% of %d lines\n", room, 100 * hit / lines, lines }'
done
