# tables.awk - medians, ratios and shares as Markdown, from what bench.sh wrote.
#
#   awk -f tables.awk times=T parts=P memory=M T P M

BEGIN { FS = "\t" }

# The median of list[1..n], which is sorted on the way.
function median(list, n, i, k, x)
{
	for (i = 2; i <= n; i++) {
		x = list[i]
		for (k = i - 1; k > 0 && list[k] > x; k--)
			list[k + 1] = list[k]
		list[k + 1] = x
	}
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}

function median_ms(trace, command, r, n, list)
{
	for (r = 1; (trace, command, r) in wall; r++)
		list[++n] = wall[trace, command, r]
	return median(list, n)
}

# How many times as long `other` took as `command`, in the same round.
function ratio(trace, other, command, r, n, list)
{
	for (r = 1; (trace, command, r) in wall && (trace, other, r) in wall; r++)
		list[++n] = wall[trace, other, r] / wall[trace, command, r]
	return n ? median(list, n) : 0
}

FILENAME == times {
	if (!(($1, $3) in seen)) {
		seen[$1, $3] = 1
		if (!($1 in commands))
			order[++traces] = $1
		command[$1, ++commands[$1]] = $3
	}
	wall[$1, $3, $2] = $4
}

FILENAME == parts {
	if (!parts_n++) {
		print_times()
		print "\n| trace | MB | samples | index | decode | merge | finish | all | merge and finish | through the merger | decode, GB/s |"
		print "|---|---|---|---|---|---|---|---|---|---|---|"
	}
	mb = $2 / 1e6
	printf "| %s | %.1f | %d | %.0f ms | %.0f ms | %.0f ms | %.0f ms | %.0f ms | %.0f %% | %.2f MB, %.1f %% | %.2f |\n", \
		$1, mb, $3, $5, $6, $7, $8, $4, 100 * ($7 + $8) / $4, $9 / 1e6, 100 * $9 / $2, $6 ? mb / $6 : 0
}

FILENAME == memory {
	if (!memory_n++) {
		print "\n| trace | parser | worker | merger | finish | broker | run |"
		print "|---|---|---|---|---|---|---|"
	}
	printf "| %s |", $1
	for (i = 2; i <= NF; i++)
		printf $i == "" ? " - |" : " %.1f MB |", $i / 1e3
	print ""
}

function print_times(t, c, trace, name, other)
{
	print "\n| trace | command | median | to 1 worker | to xxhsum -H1 | dotnet-trace takes |"
	print "|---|---|---|---|---|---|"
	for (t = 1; t <= traces; t++) {
		trace = order[t]
		for (c = 1; c <= commands[trace]; c++) {
			name = command[trace, c]
			other = ratio(trace, "dotnet-trace report topN", name)
			printf "| %s | %s | %.1f ms | %.2f | %.1f | %s |\n", trace, name, median_ms(trace, name), \
				ratio(trace, name, "1 worker"), ratio(trace, name, "xxhsum -H1"), \
				other && name ~ /worker/ ? sprintf("%.0f times as long", other) : ""
		}
	}
}
