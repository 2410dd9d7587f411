# plot.awk - lines as an SVG, both axes logarithmic, from lines of: name, x, anything, y.
#
#   awk -v title=T -v x=WORDS -v y=WORDS -f plot.awk FILE

BEGIN {
	FS = "\t"
	left = 70; right = 620; top = 50; bottom = 330
	split("#1f77b4 #d62728 #2ca02c", colours, " ")
}

{
	if (!($1 in number))
		names[number[$1] = ++lines] = $1
	n = number[$1]
	points[n]++
	px[n, points[n]] = $2
	py[n, points[n]] = $4
	if (!least_x || $2 < least_x) least_x = $2
	if ($2 > most_x) most_x = $2
	if (!least_y || $4 < least_y) least_y = $4
	if ($4 > most_y) most_y = $4
}

# The power of ten at or below, and at or above.
function below(v, p) { p = 1; while (p > v) p /= 10; while (p * 10 <= v) p *= 10; return p }
function above(v, p) { p = below(v); return p < v ? p * 10 : p }

function at_x(v) { return left + (right - left) * (log(v) - log(from_x)) / (log(to_x) - log(from_x)) }
function at_y(v) { return bottom - (bottom - top) * (log(v) - log(from_y)) / (log(to_y) - log(from_y)) }

function text(px, py, anchor, words)
{
	printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", px, py, anchor, words
}

function line(x1, y1, x2, y2)
{
	printf "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#bbb\"/>\n", x1, y1, x2, y2
}

function short(v)
{
	return v >= 1000000 ? v / 1000000 "M" : v >= 1000 ? v / 1000 "k" : v ""
}

END {
	from_x = below(least_x); to_x = above(most_x)
	from_y = below(least_y); to_y = above(most_y)
	if (to_x == from_x) to_x *= 10
	if (to_y == from_y) to_y *= 10
	print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 660 390\" font-family=\"sans-serif\" font-size=\"13\">"
	print "<rect width=\"660\" height=\"390\" fill=\"#fff\"/>"
	text(left, 25, "start", title)
	for (v = from_x; v <= to_x * 1.001; v *= 10) {
		line(at_x(v), top, at_x(v), bottom)
		text(at_x(v), bottom + 18, "middle", short(v))
	}
	for (v = from_y; v <= to_y * 1.001; v *= 10) {
		line(left, at_y(v), right, at_y(v))
		text(left - 6, at_y(v) + 4, "end", short(v))
	}
	text((left + right) / 2, bottom + 40, "middle", x)
	text(left, top - 8, "end", y)
	for (n = 1; n <= lines; n++) {
		path = ""
		for (i = 1; i <= points[n]; i++) {
			path = path sprintf("%s%.1f,%.1f", i > 1 ? " " : "", at_x(px[n, i]), at_y(py[n, i]))
			printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%s: %s, %s</title></circle>\n", \
				at_x(px[n, i]), at_y(py[n, i]), colours[n], names[n], px[n, i], py[n, i]
		}
		printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colours[n]
		printf "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", right - 90, top + 18 * n - 9, colours[n]
		text(right - 76, top + 18 * n, "start", names[n])
	}
	print "</svg>"
}
