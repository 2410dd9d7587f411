import flamegraph from 'd3-flame-graph';
import { select } from 'd3-selection';
import { grow, rootOf } from './tree.js';
import { kindOf, shortLabel } from './model.js';
import { $, button, count, option, share, show, signed } from './dom.js';

const KINDS = { managed: '#8fc98f', native: '#f0b35e', kernel: '#e88d86', unknown: '#c9c3d4', 'no frame': '#cfcfcf' };
const FOUND = '#ff5ae0';
const ALL = '#d7dce2';
const MORE = 8, LESS = 212; // hues of what grew and of what shrank
const LEVELS = [-1, -0.25, 0, 0.25, 1];

export class Graph {
	constructor(model, chosen) {
		this.model = model;
		this.chosen = chosen;
		this.element = $('graph');
		if (model.other)
			$('colours').prepend(option('change', 'change'));
		$('colours').selectedIndex = 0;
		this.names = { short: model.frames.map(shortLabel) };
		this.kinds = model.frames.map(kindOf);
		this.term = '';
		// Neighbours in the order of their samples get hues far from each other.
		this.hues = new Map(this.modules().map(([module], rank) => [module, `hsl(${((rank * 137.5) + 210) % 360} 55% 74%)`]));
		this.chart = flamegraph().cellHeight(18).transitionDuration(0).inverted(true).minFrameSize(1).resetHeightOnZoom(true)
			.label((d) => this.describe(d.data)).setColorMapper((d) => this.colour(d))
			.setSearchMatch((d, term) => d.data.label.toLowerCase().includes(term)).setSearchHandler(() => {})
			.onClick((d) => this.zoom(d.data)).onHover((d) => show('current', this.describe(d.data)));
		$('inverted').addEventListener('change', () => this.reset());
		$('colours').addEventListener('change', () => this.draw());
		$('search').addEventListener('input', () => this.search());
		this.element.addEventListener('keydown', (event) => this.key(event));
		new ResizeObserver(() => this.width() !== this.chart.width() && this.draw()).observe(this.element);
	}

	describe(node) {
		const { model } = this;
		const text = `${node.label || node.name}: ${count(node.value)} samples, ${share(node.value, model.samples)}`;
		return !model.other ? text : `${text}; ${model.side === 'after' ? 'before' : 'after'} ${count(node.other)}, ` +
			`${share(node.other, model.other.samples)}: ${signed(model.change(node.value, node.other))}`;
	}

	// From blue, less, over grey to red, more; `part` of the largest change of a method.
	shade(part) {
		const size = Math.sqrt(Math.min(Math.abs(part), 1));
		return `hsl(${part > 0 ? MORE : LESS} ${Math.round(80 * size)}% ${Math.round(86 - 26 * size)}%)`;
	}

	// What the full colour stands for.
	most() {
		const { model } = this;
		return model.frames.reduce((most, _, i) => Math.max(most, Math.abs(model.change(model.inclusive[i], model.other.inclusive[i]))), 0) || 1;
	}

	colour(d) {
		if (d.highlight)
			return FOUND;
		if ($('colours').value === 'change' && d.data.parentNode)
			return this.shade(this.model.change(d.data.value, d.data.other) / this.full);
		if (d.data.frame < 0)
			return ALL;
		if ($('colours').value === 'kind')
			return KINDS[this.kinds[d.data.frame]];
		const module = this.model.frames[d.data.frame].module;
		return module ? this.hues.get(module) : ALL;
	}

	legend() {
		const parts = [];
		if ($('colours').value === 'change')
			for (const level of LEVELS)
				parts.push([signed(level * this.full), this.shade(level)]);
		else if ($('colours').value === 'kind')
			for (const kind of new Set(this.kinds.filter((_, i) => this.model.inclusive[i])))
				parts.push([kind, KINDS[kind]]);
		else
			for (const [module] of this.modules().slice(0, 8))
				parts.push([module, this.hues.get(module)]);
		$('legend').replaceChildren(...parts.map(([text, colour]) => {
			const part = document.createElement('span'), box = document.createElement('i');
			box.style.background = colour;
			part.append(box, text);
			return part;
		}));
	}

	// Those with the most samples of their own first.
	modules() {
		const sums = new Map();
		this.model.frames.forEach((f, i) => f.module &&
			sums.set(f.module, (sums.get(f.module) ?? 0) + this.model.exclusive[i]));
		return [...sums].sort((a, b) => b[1] - a[1]);
	}

	reset() {
		this.full = this.model.other ? this.most() : 1;
		this.zoomed(rootOf(this.model, $('inverted').checked));
	}

	zoom(node) {
		if (node !== this.root && node.parentNode) {
			// What is above stays reachable; what is below is grown anew, to its own scale.
			this.zoomed({ ...node, above: node.parentNode, children: undefined });
			if (node.frame >= 0)
				this.chosen(node.frame);
		}
	}

	out() {
		if (this.root.above)
			this.zoomed({ ...this.root.above, above: this.root.above.parentNode ?? this.root.above.above });
	}

	zoomed(root) {
		// The library's own zoom left marks on what was on the way.
		this.root = { ...root, fade: false, hide: false };
		this.left = grow(this.model, this.root, this.names);
		this.current = null;
		this.draw();
	}

	path() {
		const steps = [];
		for (let node = this.root; node; node = node.above ?? node.parentNode)
			steps.unshift(node);
		$('path').replaceChildren(...steps.flatMap((node, i) => [i ? ' \u203a ' : '',
			node === this.root ? node.name : button(node.name, () => node.frame === -1 ? this.reset() :
				this.zoomed({ ...node, above: node.parentNode ?? node.above }))]));
	}

	width() {
		return Math.max(this.element.clientWidth, 200);
	}

	draw() {
		if (!this.root)
			return;
		this.element.replaceChildren();
		this.chart.width(this.width());
		select(this.element).datum(this.root).call(this.chart);
		this.path();
		this.legend();
		const { frames, samples, deep } = this.left;
		show('left-out', frames ? `${count(frames)} narrow frames, and all they call, are left out or drawn as one: ` +
			`${share(samples, this.model.samples)} of the samples end there. Zoom in to see them` +
			(deep ? '; so too what is deeper than 400 frames.' : '.') : '');
		if (this.term)
			this.chart.search(this.term);
		this.mark();
	}

	search() {
		const term = $('search').value.trim().toLowerCase();
		if (term === '' && this.term === '')
			return;
		this.term = term;
		if (term === '') {
			show('found', '');
			this.chart.clear();
		} else {
			const { samples, methods } = this.model.search((text) => text.toLowerCase().includes(term));
			show('found', `${count(samples)} samples (${share(samples, this.model.samples)}) in ${count(methods)} methods`);
			this.chart.search(term);
		}
		this.mark();
	}

	// The library lets frames and labels come in slowly; with thousands of them that is a wait.
	settle() {
		const width = this.chart.width();
		select(this.element).selectAll('rect').interrupt().attr('width', (d) => (d.x1 - d.x0) * width);
		select(this.element).selectAll('.d3-flame-graph-label').interrupt().text((d) => d.data.name);
	}

	mark() {
		this.settle();
		select(this.element).selectAll('g').classed('current', (d) => d === this.current);
		show('current', this.current ? this.describe(this.current.data) : '');
	}

	key(event) {
		const top = select(this.element).datum();
		const at = this.current ?? top;
		const beside = (step) => {
			const all = at.parent?.children.filter((d) => d.value) ?? [at];
			return all[all.indexOf(at) + step] ?? at;
		};
		const moves = {
			ArrowDown: () => at.children?.[0] ?? at,
			ArrowUp: () => at.parent ?? at,
			ArrowLeft: () => beside(-1),
			ArrowRight: () => beside(1),
			Home: () => top,
		};
		if (event.key in moves) {
			this.current = this.current || event.key === 'ArrowDown' ? moves[event.key]() : top;
			this.mark();
			this.element.querySelector('g.current')?.scrollIntoView({ block: 'nearest' });
		} else if (event.key === 'Enter' && this.current) {
			this.zoom(this.current.data);
		} else if (event.key === 'Escape' || event.key === 'Backspace') {
			this.out();
		} else {
			return;
		}
		event.preventDefault();
	}
}
