// The samples of the page, and how they are counted. All of it stands in the data as `report --format json --stacks`
// writes it, or `diff --format html`; nothing here knows of the document.

export function label(frame) {
	if (frame.name === undefined)
		return frame.namespace !== undefined ? `${frame.module}!${frame.namespace}` : frame.module || '[no module]';
	const at = frame.signature ? frame.signature.indexOf('(') : -1;
	return (frame.module ? frame.module + '!' : '') + (frame.namespace ? frame.namespace + '.' : '') + frame.name +
		(at >= 0 ? frame.signature.slice(at) : '') + (frame.tier ? ` (${frame.tier})` : '');
}

// Without module and arguments, for the narrow places.
export function shortLabel(frame) {
	if (frame.name === undefined)
		return label(frame);
	const type = frame.namespace ? frame.namespace.slice(frame.namespace.lastIndexOf('.') + 1) + '.' : '';
	return (type || (frame.module ? frame.module + '!' : '')) + frame.name;
}

const KERNEL = /^(ntoskrnl|ntkrnl|hal\.dll|win32k|\[kernel)|\.sys$/i;

export function kindOf(frame) {
	if (frame.signature)
		return 'managed';
	if (!frame.module)
		return frame.name?.startsWith('[') ? 'no frame' : 'unknown';
	return KERNEL.test(frame.module ?? '') ? 'kernel' : 'native';
}

// Calls, and how many samples are in them: `self` is by call, all else follows from it.
class Calls {
	constructor({ frames, calls }) {
		this.frames = frames;
		this.caller = Uint32Array.from(calls.caller);
		this.frame = Uint32Array.from(calls.frame);
		this.labels = this.frames.map(label);
		this.markOutermost();
		this.markChildren();
	}

	// 1: the call's frame is on no call outside it, so that its samples are those of its method.
	markOutermost() {
		const n = this.frame.length;
		this.outermost = new Uint8Array(n);
		for (let i = 0; i < n; i++) {
			let up = this.caller[i];
			while (up && this.frame[up - 1] !== this.frame[i])
				up = this.caller[up - 1];
			this.outermost[i] = up ? 0 : 1;
		}
	}

	// Calls by caller: those of caller c (0 the roots) are order[start[c] .. start[c + 1]).
	markChildren() {
		const n = this.frame.length;
		this.start = new Uint32Array(n + 2);
		for (let i = 0; i < n; i++)
			this.start[this.caller[i] + 1]++;
		for (let i = 0; i <= n; i++)
			this.start[i + 1] += this.start[i];
		const next = this.start.slice();
		this.order = new Uint32Array(n);
		for (let i = 0; i < n; i++)
			this.order[next[this.caller[i]]++] = i;
	}

	children(number) {
		return this.order.subarray(this.start[number], this.start[number + 1]);
	}

	sum(self, samples) {
		const n = this.frame.length;
		this.self = self;
		this.samples = samples;
		this.total = self.slice();
		this.exclusive = new Float64Array(this.frames.length);
		this.inclusive = new Float64Array(this.frames.length);
		for (let i = n; i-- > 0;) {
			if (this.caller[i])
				this.total[this.caller[i] - 1] += this.total[i];
			this.exclusive[this.frame[i]] += this.self[i];
			if (this.outermost[i])
				this.inclusive[this.frame[i]] += this.total[i];
		}
	}

	// Who calls a method, and whom it calls, next to the outermost of its frames, as --callers and --callees count.
	neighbours(frame) {
		const callers = new Map(), callees = new Map();
		const add = (map, key, n) => n && map.set(key, (map.get(key) ?? 0) + n);
		for (let i = 0; i < this.frame.length; i++) {
			if (this.frame[i] !== frame || !this.outermost[i] || !this.total[i])
				continue;
			add(callers, this.caller[i] ? this.frame[this.caller[i] - 1] : -1, this.total[i]);
			for (const c of this.children(i + 1))
				add(callees, this.frame[c], this.total[c]);
		}
		const sorted = (map) => [...map].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
		return { callers: sorted(callers), callees: sorted(callees) };
	}

	// How many samples have a frame that matches on their stack, and how many methods match.
	search(matches) {
		const hit = this.labels.map(matches);
		const below = new Uint8Array(this.frame.length);
		const methods = new Set();
		let samples = 0;
		for (let i = 0; i < this.frame.length; i++) {
			const own = hit[this.frame[i]];
			if (own && this.total[i])
				methods.add(this.frame[i]);
			below[i] = own || (this.caller[i] && below[this.caller[i] - 1]) ? 1 : 0;
			if (below[i])
				samples += this.self[i];
		}
		return { samples, methods: methods.size };
	}
}

export class Model extends Calls {
	constructor(report) {
		super(report);
		this.report = report;
		this.stacks = report.stacks;
		this.rows = report.rows;
		this.processes = new Map(report.processes.map((p) => [p.id, `${p.name || 'process'} ${p.pid}`]));
	}

	// Count the rows that `choice` lets through: {from, to} buckets, to excluded, process, kind; each may be null.
	count(choice) {
		const { stack, kind, bucket, samples } = this.rows;
		const self = new Float64Array(this.frame.length);
		this.buckets = new Map();
		this.samples = 0;
		for (let i = 0; i < stack.length; i++) {
			const s = stack[i];
			if (choice.process !== null && this.stacks.process[s] !== choice.process)
				continue;
			if (choice.kind !== null && kind[i] !== choice.kind)
				continue;
			this.buckets.set(bucket[i], (this.buckets.get(bucket[i]) ?? 0) + samples[i]);
			if (choice.from !== null && (bucket[i] < choice.from || bucket[i] >= choice.to))
				continue;
			self[this.stacks.call[s] - 1] += samples[i];
			this.samples += samples[i];
		}
		this.sum(self, this.samples);
	}
}

// Two sides of the same calls. One of them is shown: its counts are where Calls has them. `before` and `after` have
// those of either, `other` is the one that is not shown.
export class Difference extends Calls {
	constructor(data) {
		super(data);
		this.diff = data.diff;
		for (const side of ['before', 'after']) {
			this.sum(Float64Array.from(data.self[side]), data.diff[side].samples);
			const { self, total, exclusive, inclusive, samples } = this;
			this[side] = { self, total, exclusive, inclusive, samples, denominator: data.diff[side].denominator || 1 };
		}
		this.show('after');
	}

	show(side) {
		this.side = side;
		Object.assign(this, this[side]);
		this.other = this[side === 'after' ? 'before' : 'after'];
	}

	// What n samples of the shown side are more than m of the other, as a part of all before.
	change(n, m) {
		const sign = this.side === 'after' ? 1 : -1;
		return sign * (n / this.denominator - m / this.other.denominator) / ((this.before.samples || 1) / this.before.denominator);
	}
}
