import { kindOf } from './model.js';
import { $, button, count, element, options, share, show } from './dom.js';

const STEP = 200;
const COLUMNS = [
	['exclusive', 'Exclusive', 'n'], [null, '%', 'n'], ['inclusive', 'Inclusive', 'n'], [null, '%', 'n'],
	['label', 'Method'], ['module', 'Module'], ['process', 'Process'],
];

export class Table {
	constructor(model, chosen) {
		this.model = model;
		this.chosen = chosen;
		this.sort = 'exclusive';
		this.falling = true;
		this.shown = STEP;
		const modules = [...new Set(model.frames.map((f) => f.module ?? ''))].sort();
		options('module', [['*', 'all'], ...modules.map((m, i) => [i, m || '(none)'])]);
		this.modules = modules;
		for (const [id, event] of [['filter', 'input'], ['module', 'change']])
			$(id).addEventListener(event, () => { this.shown = STEP; this.draw(); });
		$('more').addEventListener('click', () => { this.shown += 5 * STEP; this.draw(); });
		this.head();
	}

	head() {
		const row = element('tr');
		for (const [key, text, className] of COLUMNS) {
			const th = element('th', key ? undefined : text, className);
			th.scope = 'col';
			if (key) {
				th.append(button(text, () => this.by(key)));
				th.dataset.key = key;
			}
			row.append(th);
		}
		const head = element('thead');
		head.append(row);
		this.body = element('tbody');
		$('methods').replaceChildren(head, this.body);
	}

	by(key) {
		this.falling = this.sort === key ? !this.falling : key === 'exclusive' || key === 'inclusive';
		this.sort = key;
		this.draw();
	}

	key(frame) {
		const { model } = this;
		switch (this.sort) {
		case 'label': return model.labels[frame];
		case 'module': return model.frames[frame].module ?? '';
		case 'process': return model.processes.get(model.frames[frame].process) ?? '';
		default: return model[this.sort][frame];
		}
	}

	rows() {
		const { model } = this;
		const text = $('filter').value.trim().toLowerCase();
		const module = $('module').value === '*' ? null : this.modules[$('module').value];
		const rows = [];
		for (let i = 0; i < model.frames.length; i++)
			if (model.inclusive[i] && (module === null || (model.frames[i].module ?? '') === module) &&
				(text === '' || model.labels[i].toLowerCase().includes(text)))
				rows.push(i);
		const keys = new Map(rows.map((i) => [i, this.key(i)]));
		const sign = this.falling ? -1 : 1;
		return rows.sort((a, b) => {
			const x = keys.get(a), y = keys.get(b);
			return x < y ? -sign : x > y ? sign : model.inclusive[b] - model.inclusive[a] || a - b;
		});
	}

	draw() {
		const { model } = this;
		const rows = this.rows();
		for (const th of $('methods').querySelectorAll('th[data-key]'))
			th.setAttribute('aria-sort', th.dataset.key !== this.sort ? 'none' : this.falling ? 'descending' : 'ascending');
		this.body.replaceChildren(...rows.slice(0, this.shown).map((i) => this.row(i)));
		show('rows', `${count(rows.length)} methods` + (rows.length > this.shown ? `, the first ${count(this.shown)} shown` : ''));
		$('more').hidden = rows.length <= this.shown;
	}

	row(i) {
		const { model } = this;
		const tr = element('tr', undefined, i === this.frame ? 'chosen' : '');
		const name = element('td', undefined, 'name');
		name.append(button(model.labels[i], () => this.chosen(i)));
		tr.dataset.kind = kindOf(model.frames[i]);
		tr.append(element('td', count(model.exclusive[i]), 'n'), element('td', share(model.exclusive[i], model.samples), 'n'),
			element('td', count(model.inclusive[i]), 'n'), element('td', share(model.inclusive[i], model.samples), 'n'),
			name, element('td', model.frames[i].module ?? '', 'short'),
			element('td', model.processes.get(model.frames[i].process) ?? '', 'short'));
		return tr;
	}
}

// The method that was chosen, with who calls it and whom it calls.
export function showOne(model, frame, chosen) {
	$('one').hidden = frame < 0;
	if (frame < 0)
		return;
	const { callers, callees } = model.neighbours(frame);
	show('one-head', model.labels[frame]);
	show('one-counts', `exclusive ${count(model.exclusive[frame])} (${share(model.exclusive[frame], model.samples)}), ` +
		`inclusive ${count(model.inclusive[frame])} (${share(model.inclusive[frame], model.samples)})`);
	for (const [id, list] of [['callers', callers], ['callees', callees]]) {
		const rows = list.slice(0, 100).map(([other, n]) => {
			const tr = element('tr'), name = element('td', other < 0 ? '(root)' : undefined, 'name');
			if (other >= 0)
				name.append(button(model.labels[other], () => chosen(other)));
			tr.append(element('td', count(n), 'n'), element('td', share(n, model.inclusive[frame]), 'n'), name);
			return tr;
		});
		if (list.length > 100) {
			const td = element('td', `and ${count(list.length - 100)} more`);
			td.colSpan = 3;
			rows.push(element('tr'));
			rows.at(-1).append(td);
		}
		$(id).replaceChildren(...rows);
	}
}
