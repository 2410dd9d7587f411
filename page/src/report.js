// The page of one result.
import { Model } from './model.js';
import { TimeLine } from './time.js';
import { Views } from './views.js';
import { nameColumns } from './table.js';
import { head } from './head.js';
import { $, count, options, share } from './dom.js';

function columns(model) {
	const process = (i) => model.processes.get(model.frames[i].process) ?? '';
	const counted = (text, key, first) => [
		{ text, key: (i) => model[key][i], cell: (i) => count(model[key][i]), number: true, first },
		{ text: '%', cell: (i) => share(model[key][i], model.samples), number: true },
	];
	return [...counted('Exclusive', 'exclusive', true), ...counted('Inclusive', 'inclusive'), ...nameColumns(model),
		{ text: 'Process', key: process, cell: process }];
}

export function showReport(report) {
	const model = new Model(report);
	model.count({ from: null, to: null, process: null, kind: null });
	head(report);
	options('process', [['*', 'all'], ...report.processes.map((p) => [p.id, model.processes.get(p.id)])]);
	options('kind', [['*', 'all'], ...Object.keys(report.kinds).map((k) => [k, k])]);
	const views = new Views(model, columns(model));
	const recount = () => {
		const process = $('process').value, kind = $('kind').value;
		model.count({ ...time.choice(), process: process === '*' ? null : Number(process), kind: kind === '*' ? null : kind });
		time.draw();
		views.draw();
	};
	const time = new TimeLine(model, recount);
	for (const id of ['process', 'kind'])
		$(id).addEventListener('change', recount);
	$('of-report').hidden = false;
	recount();
}
