#!/bin/sh
# `report --format speedscope` in speedscope itself, in a real browser: it opens, and shows what the JSON counts.
. tests/e2e/lib.sh

node=$(command -v node) || node=
browser=${RD_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}
# The npm package, which `npm ci` brings into page/.
program=${RD_SPEEDSCOPE:-page/node_modules/speedscope}/dist/release
if [ -z "$node" ] || [ -z "$browser" ] || ! [ -r "$program/index.html" ]; then
	skip "speedscope shows a report" "no node, no Chromium, or no page/node_modules/speedscope"
	plan
	exit
fi
cp -r "$program" "$scratch/speedscope"

# The table of the view "Sandwich", as many of its rows as fit the window: self, total, name.
table='
const until = async (what) => {
	for (let i = 0; i < 300 && !what(); i++)
		await new Promise((good) => setTimeout(good, 50));
	return what();
};
const loaded = await until(() => document.querySelector("canvas") && document.title !== "speedscope");
const drawn = [...document.querySelectorAll("canvas")].some((c) => c.width > 100);
[...document.querySelectorAll("div")].filter((d) => /^\W*Sandwich$/.test(d.textContent)).pop().click();
await until(() => document.querySelectorAll("tr").length > 5);
const number = (td) => Number(/^[0-9,]+/.exec(td.textContent.trim())[0].replaceAll(",", ""));
const rows = [...document.querySelectorAll("tr")].filter((tr) => tr.cells.length === 3 && /^\d/.test(tr.cells[0].textContent))
	.map((tr) => [number(tr.cells[1]), number(tr.cells[0]), tr.cells[2].textContent]);
return { title: document.title, text: document.body.innerText, drawn, rows };'

# open VIEW...: the report of $r with these words, opened as the command of the package does it.
open()
{
	"$bin/rundown" report "$r" "$@" --format speedscope -o "$scratch/file.json" 2>/dev/null
	"$bin/rundown" report "$r" "$@" --format json -o "$scratch/json" 2>/dev/null
	{
		printf 'speedscope.loadFileFromBase64("file.json", "'
		base64 -w 0 "$scratch/file.json"
		printf '")\n'
	} >"$scratch/speedscope/profile.js"
	printf '%s\n' "$table" >"$scratch/script.js"
	PAGE_OF_OTHERS=1 TMPDIR=$scratch "$node" tests/e2e/page_browser.mjs "$browser" \
		"$scratch/speedscope/index.html#localProfilePath=$scratch/speedscope/profile.js" "$scratch/script.js" \
		>"$scratch/answer" 2>"$scratch/wrong" || echo "exit code $?" >>"$scratch/wrong"
}

# check NAME VIEW...: of one process. Rows with equal counts have no order in speedscope: each must be a row of the JSON.
check()
{
	name=$1
	shift
	open "$@"
	check_empty "$name: it opens without errors" "$scratch/wrong"
	is "$name: a graph is drawn" true "$(jq .drawn "$scratch/answer")"
	is "$name: it is named by its trace, and its profile by the process" "true true" "$(jq -r --slurpfile r "$scratch/json" \
		'"\(.title | startswith($r[0].traces[0].path)) \(.text | contains("\($r[0].processes[0].name) (\($r[0].processes[0].pid))"))"' "$scratch/answer")"
	jq -c "$called [.methods[] | [.exclusive, .inclusive, called]]" "$scratch/json" >"$scratch/wanted"
	is "$name: its hottest rows are those of the JSON" "[true,true,true]" "$(jq -cn --slurpfile a "$scratch/answer" --slurpfile j "$scratch/wanted" '
		($a[0].rows) as $shown | ($j[0] | map({key: tojson, value: true}) | from_entries) as $has |
		[($shown | length) >= 20, ($shown | all($has[tojson])),
			($shown | map(.[0])) == ([$j[0][] | .[0]] | sort | reverse[:($shown | length)])]')"
}

r=$scratch/small.rundown
"$bin/rundown" run tests/traces/shop-small.nettrace.zst -o "$r" -q
check "shop-small"
check "shop-small, a view" --focus Regex --group type
for trace in own/shop-large.nettrace.zst perfview/net.4.5.2.x64.etl.zip; do
	name=${trace##*/}
	if [ -r "$shared/traces/$trace" ]; then
		r=$scratch/$name.rundown
		"$bin/rundown" run "$shared/traces/$trace" -o "$r" -q >/dev/null 2>&1
		check "$name" --process "$("$bin/rundown" report "$r" --format json 2>/dev/null | jq '.processes | max_by(.samples).pid')"
	else
		skip "$name" "no shared traces beside the checkout"
	fi
done
plan
