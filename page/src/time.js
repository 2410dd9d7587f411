// The time line: a bar a bucket, and the range that is counted. By pointer across it, or by the two sliders.
import { $, count, seconds, show } from './dom.js';

const SVG = 'http://www.w3.org/2000/svg';

export class TimeLine {
	constructor(model, changed) {
		const { first, samples, width_ns } = model.report.buckets;
		this.model = model;
		this.first = first;
		this.n = samples.length;
		this.width_ns = width_ns;
		this.from = 0;
		this.to = this.n;
		this.changed = changed;
		for (const id of ['from', 'to']) {
			$(id).min = 0;
			$(id).max = this.n;
			$(id).disabled = this.n < 2;
			$(id).addEventListener('input', () => this.set(...this.ordered(id)));
		}
		$('whole').addEventListener('click', () => this.set(0, this.n));
		this.svg = document.createElementNS(SVG, 'svg');
		this.svg.setAttribute('preserveAspectRatio', 'none');
		this.svg.setAttribute('viewBox', `0 0 ${Math.max(this.n, 1)} 100`);
		this.svg.setAttribute('aria-hidden', 'true');
		$('time').replaceChildren(this.svg);
		this.pointer();
	}

	ordered(moved) {
		let from = Number($('from').value), to = Number($('to').value);
		if (from >= to)
			[from, to] = moved === 'from' ? [Math.min(from, this.n - 1), Math.min(from, this.n - 1) + 1] :
				[Math.max(to, 1) - 1, Math.max(to, 1)];
		return [from, to];
	}

	pointer() {
		let begun = null;
		const at = (event) => {
			const box = this.svg.getBoundingClientRect();
			return Math.min(this.n - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * this.n)));
		};
		this.svg.addEventListener('pointerdown', (event) => {
			begun = at(event);
			this.svg.setPointerCapture(event.pointerId);
		});
		this.svg.addEventListener('pointermove', (event) => {
			if (begun !== null)
				this.place(Math.min(begun, at(event)), Math.max(begun, at(event)) + 1);
		});
		this.svg.addEventListener('pointerup', (event) => {
			if (begun !== null)
				this.set(Math.min(begun, at(event)), Math.max(begun, at(event)) + 1);
			begun = null;
		});
	}

	// Buckets for Model.count, nulls for all.
	choice() {
		const all = this.from === 0 && this.to === this.n;
		return { from: all ? null : this.first + this.from, to: all ? null : this.first + this.to };
	}

	place(from, to) {
		this.from = from;
		this.to = to;
		$('from').value = from;
		$('to').value = to;
		const start = seconds((this.first + from) * this.width_ns), end = seconds((this.first + to) * this.width_ns);
		show('range', `${start} to ${end}`);
		[...this.svg.children].forEach((bar, i) => bar.setAttribute('class', i >= from && i < to ? 'in' : 'out'));
	}

	set(from, to) {
		this.place(from, to);
		this.changed();
	}

	// After a count: the bars of what it let through but for the time.
	draw() {
		let most = 1;
		for (const n of this.model.buckets.values())
			most = Math.max(most, n);
		this.svg.replaceChildren(...Array.from({ length: this.n }, (_, i) => {
			const n = this.model.buckets.get(this.first + i) ?? 0;
			const bar = document.createElementNS(SVG, 'rect');
			const title = document.createElementNS(SVG, 'title');
			const height = (100 * n) / most;
			for (const [key, value] of Object.entries({ x: i, y: 100 - height, width: 0.92, height }))
				bar.setAttribute(key, value);
			title.textContent = `${seconds((this.first + i) * this.width_ns)}: ${count(n)} samples`;
			bar.append(title);
			return bar;
		}));
		this.place(this.from, this.to);
	}
}
