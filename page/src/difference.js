// The page of two results side by side.
import { Difference } from './model.js';
import { Views } from './views.js';
import { nameColumns } from './table.js';
import { $, count, element, share, show, signed } from './dom.js';

const NORMALISED = { samples: 'shares of all samples', time: 'samples a second', none: 'samples as they are' };

// What the tests said, by frame; what has no row has no samples of the compared kind.
function verdicts(data) {
	const rows = new Map(data.diff.methods.map((row, i) => [data.tested[i], row]));
	return (frame) => {
		const row = rows.get(frame);
		if (!row)
			return { words: '', rank: -1 };
		if (row.p_adjusted === null)
			return { words: 'too few', rank: 0 };
		return row.significant ? { words: `yes, p = ${row.p_adjusted.toPrecision(2)}`, rank: 2 - row.p_adjusted } :
			{ words: 'no', rank: 1 - row.p_adjusted };
	};
}

function columns(model, data) {
	const { count: kind } = data.diff;
	const verdict = verdicts(data);
	const change = (i) => model.change(model[kind][i], model.other[kind][i]);
	const side = (text, key) => [
		{ text, key: (i) => model[key][kind][i], cell: (i) => count(model[key][kind][i]), number: true },
		{ text: '%', cell: (i) => share(model[key][kind][i], model[key].samples), number: true },
	];
	return [...side('Before', 'before'), ...side('After', 'after'),
		{ text: 'Change of all', key: (i) => Math.abs(change(i)), cell: (i) => signed(change(i)), number: true, first: true },
		{ text: 'More than noise', key: (i) => verdict(i).rank, cell: (i) => verdict(i).words, number: true },
		...nameColumns(model)];
}

function head(data) {
	const { before, after, all, test } = data.diff;
	const name = (path) => path.replace(/\/+$/, '').replace(/^.*\//, '');
	const title = `${name(before.path)} \u2192 ${name(after.path)}`;
	document.title = `${title} \u2013 rundown diff`;
	show('title', title);
	const view = Object.entries(data.diff.view ?? {}).map(([key, value]) => `${key} ${value}`).join(', ');
	const lines = [
		...[['Before', before], ['After', after]].map(([text, s]) => `${text}: ${s.path}, ${count(s.samples)} samples` +
			(s.discarded ? `, ${count(s.discarded)} outside the filter` : '')),
		`Compared: ${data.diff.count} samples, ${NORMALISED[data.diff.normalised]}; all together ${signed(all.difference)}`,
		`${count(test.significant)} of ${count(test.tested)} methods changed by more than noise ` +
			`(${test.name}, ${test.correction}, ${test.level}); ${count(data.diff.new)} are new, ${count(data.diff.gone)} gone`,
		...(view ? [`Shown: ${view}`] : []),
	];
	$('summary').replaceChildren(...lines.flatMap((line, i) => [...(i ? [element('br')] : []), line]));
	const bad = [before, after].filter((s) => !s.complete);
	show('trust-head', bad.length ? 'Trust: an input is NOT whole' : 'Trust: the inputs are whole');
	$('trust-head').className = bad.length ? 'bad' : 'good';
	$('trust').replaceChildren(...bad.map((s) => element('li', `${s.path} is of an input that was cut, damaged or partly left out`)));
}

export function showDifference(data) {
	const model = new Difference(data);
	head(data);
	const views = new Views(model, columns(model, data));
	$('of-difference').hidden = false;
	$('side').addEventListener('change', () => {
		model.show($('side').value);
		views.draw();
	});
	views.draw();
}
