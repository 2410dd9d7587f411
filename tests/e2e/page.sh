#!/bin/sh
# `report --format html` in a real browser: it loads nothing, counts what the JSON counts, and does what it offers.
. tests/e2e/lib.sh

node=$(command -v node) || node=
browser=${RD_CHROMIUM:-$(command -v chromium || command -v chromium-browser || command -v google-chrome)}

# The committed page is that of its sources: by their sum, and where esbuild is there by building it.
{ cat $(ls page/src/* | LC_ALL=C sort) page/build.mjs page/package-lock.json | sha256sum | cut -d' ' -f1; } >"$scratch/sum"
is "report/page.html is built from page/ as it is (make page)" "$(cat "$scratch/sum")" \
	"$(sed -n 's/.*name="rundown-sources" content="\([0-9a-f]*\)".*/\1/p' report/page.html)"
if [ -n "$node" ] && [ -d page/node_modules/esbuild ]; then
	"$node" page/build.mjs "$scratch/page.html" && cmp "$scratch/page.html" report/page.html >"$scratch/differ" 2>&1
	check_empty "building it gives the same bytes" "$scratch/differ"
else
	skip "building it gives the same bytes" "no node, or no page/node_modules"
fi

# in_page NAME FILE SCRIPT: run SCRIPT in the page; its answer in $scratch/answer. Whatever goes wrong fails NAME.
in_page()
{
	printf '%s\n' "$3" >"$scratch/script.js"
	TMPDIR=$scratch "$node" tests/e2e/page_browser.mjs "$browser" "$2" "$scratch/script.js" >"$scratch/answer" 2>"$scratch/wrong" ||
		echo "exit code $?" >>"$scratch/wrong"
	check_empty "$1: no errors, no loads" "$scratch/wrong"
}

# All rows of the table as the JSON has them. Lone surrogates are characters of their own in neither.
table='
const more = document.getElementById("more");
while (!more.hidden) more.click();
const number = (td) => Number(td.textContent.replaceAll(",", ""));
const rows = [...document.querySelectorAll("#methods tbody tr")].map((tr) => [number(tr.cells[0]), number(tr.cells[2]), tr.cells[4].textContent]);
'
wanted="$called [.methods[] | [.exclusive, .inclusive, called]] | sort"

written()
{
	"$bin/rundown" report "$r" --format html "$@" -o "$scratch/page.html" 2>/dev/null
	"$bin/rundown" report "$r" --format json "$@" 2>/dev/null >"$scratch/json"
}

check_numbers()
{
	in_page "$1" "$scratch/page.html" "$table return rows;"
	jq -c "$wanted" "$scratch/json" >"$scratch/wanted"
	jq -c sort "$scratch/answer" | cmp - "$scratch/wanted" >"$scratch/differ" 2>&1
	check_empty "$1: the table has the rows and numbers of the JSON" "$scratch/differ"
}

# The first method that calls and is called, and what --callers and --callees say of it.
check_search_and_zoom()
{
	in_page "$1: search" "$scratch/page.html" '
		const s = document.getElementById("search");
		s.value = "program.main"; s.dispatchEvent(new Event("input"));
		const lit = [...document.querySelectorAll("#graph rect")].filter((x) => x.getAttribute("fill") === "#ff5ae0").length;
		s.value = "no such thing at all"; s.dispatchEvent(new Event("input"));
		return [lit > 0, document.getElementById("found").textContent];'
	is "$1: search lights what it finds" '[true,"0 samples (0.00 %) in 0 methods"]' "$(cat "$scratch/answer")"
	in_page "$1: zoom" "$scratch/page.html" '
		const graph = document.getElementById("graph");
		const widths = () => [...graph.querySelectorAll("g.frame")].map((g) => Number(g.getAttribute("width")));
		const full = Math.max(...widths());
		const g = [...graph.querySelectorAll("g.frame")].find((g) => Number(g.getAttribute("width")) < full / 3);
		const name = g.getAttribute("name");
		g.dispatchEvent(new MouseEvent("click", { bubbles: true }));
		const first = graph.querySelector("g.frame");
		const zoomed = first.getAttribute("name") === name && Number(first.getAttribute("width")) === full;
		const chosen = !document.getElementById("one").hidden;
		const key = (key) => graph.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
		for (let i = 0; i < 100 && graph.querySelector("g.frame").getAttribute("name") !== "all samples"; i++) key("Escape");
		const back = graph.querySelector("g.frame").getAttribute("name");
		key("ArrowDown"); key("ArrowDown"); key("Enter");
		const byKeys = graph.querySelector("g.frame").getAttribute("name") !== "all samples";
		document.getElementById("inverted").click();
		return [zoomed, chosen, back, byKeys, graph.querySelectorAll("g.frame").length > 3];'
	is "$1: zoom by pointer and keys, out again, inverted" '[true,true,"all samples",true,true]' "$(cat "$scratch/answer")"
}

check_callers()
{
	in_page "$1: callers" "$scratch/page.html" "$table"'
		const at = rows.findIndex((x) => x[2].includes("Fib("));
		document.querySelectorAll("#methods tbody tr")[at].querySelector("button").click();
		const list = (id) => [...document.querySelectorAll(`#${id} tr`)].map((tr) => [number(tr.cells[0]), tr.cells[2].textContent]);
		return { callers: list("callers"), callees: list("callees") };'
	for side in callers callees; do
		"$bin/rundown" report "$r" --format json --$side '^shop!.*Fib\(' --top 0 2>/dev/null | jq -c "$called [.methods[] | select(.direct > 0) | [.direct, called]] | sort" >"$scratch/wanted"
		is "$1: $side are those of --$side" "$(cat "$scratch/wanted")" "$(jq -c ".$side | sort" "$scratch/answer")"
	done
}

check_range()
{
	width=$(jq .buckets.width_ns "$scratch/json") first=$(jq .buckets.first "$scratch/json")
	in_page "$1: range" "$scratch/page.html" '
		const set = (id, v) => { const e = document.getElementById(id); e.value = v; e.dispatchEvent(new Event("input")); };
		set("from", 10); set("to", 25);'"$table return rows;"
	from=$(awk "BEGIN { printf \"%.9f\", ($first + 10) * $width / 1e9 }") to=$(awk "BEGIN { printf \"%.9f\", ($first + 25) * $width / 1e9 }")
	"$bin/rundown" report "$r" --format json --from "$from" --to "$to" 2>/dev/null | jq -c "$wanted" >"$scratch/wanted"
	jq -c sort "$scratch/answer" | cmp - "$scratch/wanted" >"$scratch/differ" 2>&1
	check_empty "$1: a range of time counts what --from and --to count" "$scratch/differ"
}

# Names of every kind, as the JSON of a trace would bring them, through the page as it is.
check_nasty()
{
	"$bin/rundown" report "$r" --format json --stacks 2>/dev/null >"$scratch/stacks.json"
	"$node" -e '
		const { readFileSync, writeFileSync } = require("fs");
		const [json, page, to] = process.argv.slice(1);
		const nasty = ["</script><script>document.title=\"broken\"</script>", "<img src=x onerror=document.title=1>", "a\"b;c\nd\re",
			"=1+2", "\u4e2d\u6587\u{1f680}", "\ud800lone", "&lt;&amp;", "__proto__", "constructor", ""];
		const report = JSON.parse(readFileSync(json));
		report.frames.forEach((f, i) => { f.name = nasty[i % nasty.length]; f.module = nasty[(i + 3) % nasty.length]; f.namespace = ""; });
		report.processes.forEach((p) => { p.name = nasty[0]; });
		writeFileSync(to, readFileSync(page, "utf8") + JSON.stringify(report).replace(/[<>&]/g,
			(c) => "\\u00" + c.charCodeAt(0).toString(16)) + "</script>\n</body>\n</html>\n");' \
		"$scratch/stacks.json" report/page.html "$scratch/nasty.html"
	in_page "$1" "$scratch/nasty.html" '
		const names = [...document.querySelectorAll("#methods td.name")].map((td) => td.textContent);
		const s = document.getElementById("search");
		s.value = "</SCRIPT>"; s.dispatchEvent(new Event("input"));
		return [document.documentElement.dataset.ready, document.title.includes("broken"), document.querySelectorAll("img").length,
			names.some((n) => n.includes("<script>document")), names.some((n) => n.includes("\ud800lone")),
			/^[1-9]/.test(document.getElementById("found").textContent)];'
	is "$1: they are shown as they are" '["yes",false,0,true,true,true]' "$(cat "$scratch/answer")"
}

# 100,000 stacks: how long until it is drawn (some 2 s on an idle machine), and that it says what is not.
check_many()
{
	"$node" -e '
		const { readFileSync, writeFileSync } = require("fs");
		const [json, page, to] = process.argv.slice(1);
		const report = JSON.parse(readFileSync(json));
		let seed = 1;
		const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
		const owner = report.processes[0].id, samples = [], call = [], caller = [], frame = [];
		report.frames = Array.from({ length: 20000 }, (_, i) => ({ process: owner, pid: 1, clr: 1, module: "m" + i % 50, namespace: "N.T" + i % 999, name: "f" + i, signature: "void  ()" }));
		for (let i = 0; i < 100000; i++) {
			let at = i && random(20) ? call[random(i)] : 0;
			for (let d = random(8) + 1; d > 0; d--) { caller.push(at); frame.push(random(20000)); at = caller.length; }
			call.push(at); samples.push(random(9) + 1);
		}
		report.calls = { caller, frame };
		report.stacks = { process: call.map(() => owner), call, samples, weight: samples };
		report.rows = { stack: call.map((_, i) => i), thread: call.map(() => 1), kind: call.map(() => "managed"),
			bucket: call.map((_, i) => report.buckets.first + i % report.buckets.samples.length), samples, weight: samples };
		writeFileSync(to, readFileSync(page, "utf8") + JSON.stringify(report) + "</script></body></html>");' \
		"$scratch/stacks.json" report/page.html "$scratch/many.html"
	in_page "$1" "$scratch/many.html" '
		const ready = performance.now(), straight = document.querySelectorAll("#graph g").length;
		const begun = performance.now();
		document.getElementById("inverted").click();
		const inverted = performance.now() - begun;
		document.querySelector("#graph g:nth-of-type(2)").dispatchEvent(new MouseEvent("click", { bubbles: true }));
		return { ready, straight, inverted, frames: document.querySelectorAll("#graph g").length, note: document.getElementById("left-out").textContent };'
	is "$1: drawn and turned while somebody waits, and a note says what is not drawn" true \
		"$(jq '.ready < 30000 and .inverted < 15000 and .frames > 100 and (.note | test("^[0-9,]+ narrow frames"))' "$scratch/answer")"
	sed 's/^/# /' "$scratch/answer"
}

# Two results side by side: what the page has of methods is what the JSON of the difference has, either side's widths are
# that side's samples, and what grew is red where what shrank is blue.
check_difference()
{
	before=$scratch/before.rundown after=$scratch/after.rundown page=$scratch/diff.html
	"$bin/rundown" run tests/traces/shop-small.nettrace.zst -o "$before" -q
	"$bin/rundown" run tests/traces/shop-verbose.nettrace.zst -o "$after" -q
	"$bin/rundown" diff "$before" "$after" --format html -o "$page"
	"$bin/rundown" diff "$before" "$after" --format json >"$scratch/diff.json"
	in_page "$1" "$page" '
		const more = document.getElementById("more");
		while (!more.hidden) more.click();
		const number = (td) => Number(td.textContent.replaceAll(",", ""));
		const part = (td) => Number(td.textContent.replace("\u2212", "-").replace(/[ %]/g, ""));
		return [...document.querySelectorAll("#methods tbody tr")].map((tr) => [number(tr.cells[0]), number(tr.cells[2]), part(tr.cells[4]),
			tr.cells[5].textContent.split(",")[0], tr.cells[6].textContent]).filter((x) => x[0] || x[1]);'
	jq -c "$called"' [.methods[] | [.exclusive_before, .exclusive_after, .difference * 100,
		(if .p_adjusted == null then "too few" elif .significant then "yes" else "no" end), called]] | sort' \
		"$scratch/diff.json" >"$scratch/wanted"
	is "$1: the table has the rows, numbers and verdicts of the JSON" '[true,true,true]' "$(jq -cn \
		--slurpfile page "$scratch/answer" --slurpfile json "$scratch/wanted" '($page[0] | sort) as $p | ($json[0] | sort) as $j |
		[($j | length) > 500, ($p | map(del(.[2]))) == ($j | map(del(.[2]))),
			all(range($j | length); ($p[.][2] - $j[.][2]) | fabs <= 0.0051)]')"
	in_page "$1: colours" "$page" '
		const side = document.getElementById("side"), graph = document.getElementById("graph");
		const shades = () => [...graph.querySelectorAll("g.frame")].slice(1).map((g) => {
			const text = g.querySelector("title").textContent, fill = g.querySelector("rect").getAttribute("fill");
			const hue = Number(/^hsl\((\d+)/.exec(fill)[1]), grew = / \+(?!0\.00 %$)/.test(text), shrank = text.includes(" \u2212");
			return grew ? hue === 8 : shrank ? hue === 212 : true;
		});
		const all = () => graph.querySelector("g.frame title").textContent;
		const after = [all(), shades()];
		side.value = "before"; side.dispatchEvent(new Event("change"));
		const before = [all(), shades()];
		return [after[0], before[0], after[1].length > 20 && after[1].every(Boolean), before[1].length > 20 && before[1].every(Boolean),
			document.getElementById("of-report").hidden];'
	is "$1: widths of either side, red grew, blue shrank" \
		'["all samples: 9,065 samples, 100.00 %; after 9,154, 100.00 %: +0.00 %",true,true,true]' \
		"$(jq -c 'del(.[0])' "$scratch/answer")"
	in_page "$1: callers, search, inverted" "$page" '
		document.querySelector("#methods tbody button").click();
		const counts = document.getElementById("one-counts").textContent, callers = document.querySelectorAll("#callers tr").length;
		const s = document.getElementById("search");
		s.value = "program.main"; s.dispatchEvent(new Event("input"));
		const found = document.getElementById("found").textContent;
		document.getElementById("inverted").click();
		return [/^before: exclusive [0-9,]+ .*; after: exclusive [0-9,]+ /.test(counts), callers > 0, /^[1-9]/.test(found),
			document.querySelectorAll("#graph g.frame").length > 20];'
	is "$1: callers, search, inverted" '[true,true,true,true]' "$(cat "$scratch/answer")"
	in_page "$1: narrow frames" "$page" '
		document.getElementById("inverted").click();
		const sums = (g) => ["value", "other"].map((side) => [g[side], g.children.reduce((n, child) => n + child[side], 0)]);
		const root = document.querySelector("#graph g.frame").__data__.data;
		return [root.children.some((child) => child.name.endsWith("narrow]")), ...sums(root).map(([all, parts]) => all === parts)];'
	is "$1: narrow frames drawn as one have the samples of both sides" '[true,true,true]' "$(cat "$scratch/answer")"
	"$bin/rundown" diff "$before" "$before" --format html --normalise none --focus Program -o "$page"
	in_page "$1: against itself" "$page" '
		return [[...document.querySelectorAll("#methods tbody tr")].every((tr) => tr.cells[4].textContent === "+0.00 %"),
			document.getElementById("summary").textContent.includes("focus Program")];'
	is "$1: against itself nothing changed" '[true,true]' "$(cat "$scratch/answer")"
}

check()
{
	r=$scratch/$1.rundown
	if ! "$bin/rundown" run "$2" -o "$r" -q >/dev/null 2>"$scratch/err" && [ ! -e "$r" ]; then
		not_ok "$1: run" "$scratch/err"
		return
	fi
	written
	check_numbers "$1"
}

if [ -z "$node" ] || [ -z "$browser" ]; then
	skip "the page in a browser" "no node, or no Chromium"
	plan
	exit
fi
check shop-small tests/traces/shop-small.nettrace.zst
check_search_and_zoom shop-small
check_callers shop-small
check_range shop-small
check_nasty "names that are no names"
check_many "100,000 stacks"
check_difference "a difference"
for view in "--focus Regex" "--hide ^System" "--group type" "--tiers"; do
	written $view
	case $view in
	--group* | --tiers) in_page "$view" "$scratch/page.html" "return document.documentElement.dataset.ready" ;;
	*) check_numbers "$view" ;;
	esac
done
for trace in own/shop-large.nettrace.zst perfview/net.4.5.2.x64.etl.zip; do
	name=${trace##*/}
	if [ -r "$shared/traces/$trace" ]; then
		check "$name" "$shared/traces/$trace"
	else
		skip "$name" "no shared traces beside the checkout"
	fi
done
plan
