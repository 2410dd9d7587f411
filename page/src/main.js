import { Model } from './model.js';
import { Graph } from './graph.js';
import { Table, showOne } from './table.js';
import { TimeLine } from './time.js';
import { head } from './head.js';
import { $, options } from './dom.js';

function start() {
	const model = new Model(JSON.parse($('data').textContent));
	model.count({ from: null, to: null, process: null, kind: null });
	head(model.report);
	options('process', [['*', 'all'], ...model.report.processes.map((p) => [p.id, model.processes.get(p.id)])]);
	options('kind', [['*', 'all'], ...Object.keys(model.report.kinds).map((k) => [k, k])]);
	let frame = -1;
	const choose = (chosen) => {
		frame = chosen;
		table.frame = chosen;
		table.draw();
		showOne(model, frame, choose);
	};
	const chooseAndGo = (chosen) => {
		choose(chosen);
		$('one-head').scrollIntoView({ block: 'center' });
	};
	const graph = new Graph(model, choose);
	const table = new Table(model, chooseAndGo);
	const recount = () => {
		const process = $('process').value, kind = $('kind').value;
		model.count({ ...time.choice(), process: process === '*' ? null : Number(process), kind: kind === '*' ? null : kind });
		time.draw();
		table.draw();
		showOne(model, frame, chooseAndGo);
		graph.reset();
		graph.search();
	};
	const time = new TimeLine(model, recount);
	for (const id of ['process', 'kind'])
		$(id).addEventListener('change', recount);
	recount();
	document.documentElement.dataset.ready = 'yes';
}

// The data stands behind the script.
document.addEventListener('DOMContentLoaded', start);
