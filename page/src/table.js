import { kindOf } from './model.js';
import { $, button, count, element, options, share, show } from './dom.js';

const STEP = 200;

// A column is {text, key, cell, number}: what it is sorted by and what it shows, of a frame; numbers fall at first.
// Without a text it belongs to the column before it.
export class Table {
	constructor(model, columns, chosen) {
		this.model = model;
		this.columns = columns;
		this.chosen = chosen;
		this.sort = columns.find((c) => c.first);
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
		for (const column of this.columns) {
			const th = element('th', column.key ? undefined : column.text, column.number ? 'n' : '');
			th.scope = 'col';
			if (column.key)
				th.append(button(column.text, () => this.by(column)));
			row.append(th);
		}
		const head = element('thead');
		head.append(row);
		this.heads = [...row.cells];
		this.body = element('tbody');
		$('methods').replaceChildren(head, this.body);
	}

	by(column) {
		this.falling = this.sort === column ? !this.falling : Boolean(column.number);
		this.sort = column;
		this.draw();
	}

	rows() {
		const { model } = this;
		const text = $('filter').value.trim().toLowerCase();
		const module = $('module').value === '*' ? null : this.modules[$('module').value];
		const rows = [];
		for (let i = 0; i < model.frames.length; i++)
			if ((model.inclusive[i] || model.other?.inclusive[i]) && (module === null || (model.frames[i].module ?? '') === module) &&
				(text === '' || model.labels[i].toLowerCase().includes(text)))
				rows.push(i);
		const keys = new Map(rows.map((i) => [i, this.sort.key(i)]));
		const sign = this.falling ? -1 : 1;
		return rows.sort((a, b) => {
			const x = keys.get(a), y = keys.get(b);
			return x < y ? -sign : x > y ? sign : model.inclusive[b] - model.inclusive[a] || a - b;
		});
	}

	draw() {
		const rows = this.rows();
		this.columns.forEach((column, i) => column.key &&
			this.heads[i].setAttribute('aria-sort', column !== this.sort ? 'none' : this.falling ? 'descending' : 'ascending'));
		this.body.replaceChildren(...rows.slice(0, this.shown).map((i) => this.row(i)));
		show('rows', `${count(rows.length)} methods` + (rows.length > this.shown ? `, the first ${count(this.shown)} shown` : ''));
		$('more').hidden = rows.length <= this.shown;
	}

	row(i) {
		const { model } = this;
		const tr = element('tr', undefined, i === this.frame ? 'chosen' : '');
		tr.dataset.kind = kindOf(model.frames[i]);
		for (const { cell, number } of this.columns) {
			if (cell) {
				tr.append(element('td', cell(i), number ? 'n' : 'short'));
				continue;
			}
			const name = element('td', undefined, 'name');
			name.append(button(model.labels[i], () => this.chosen(i)));
			tr.append(name);
		}
		return tr;
	}
}

// The columns that say which method it is: its name opens it, so it has no cell of its own.
export function nameColumns(model) {
	const module = (i) => model.frames[i].module ?? '';
	return [{ text: 'Method', key: (i) => model.labels[i] }, { text: 'Module', key: module, cell: module }];
}

// The method that was chosen, with who calls it and whom it calls.
export function showOne(model, frame, chosen) {
	$('one').hidden = frame < 0;
	if (frame < 0)
		return;
	const { callers, callees } = model.neighbours(frame);
	show('one-head', model.labels[frame]);
	const counts = ({ exclusive, inclusive, samples }) => `exclusive ${count(exclusive[frame])} (${share(exclusive[frame], samples)}), ` +
		`inclusive ${count(inclusive[frame])} (${share(inclusive[frame], samples)})`;
	show('one-counts', model.other ? `before: ${counts(model.before)}; after: ${counts(model.after)}` : counts(model));
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
