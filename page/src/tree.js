// The tree that is drawn: of the calls as they are, or from the innermost frames out. Frames too narrow to be seen are
// left out before anything is drawn, and counted, so that it is the same work for a thousand stacks and for a million.

import { count } from './dom.js';

const NARROWEST = 1 / 1500; // of the widest: less than a pixel
const FRAMES_MOST = 5000;
const DEPTH_MOST = 400;
const BUNDLE_MOST = 300;
export const BUNDLE = -2;

// A node is {name, value, other, frame, items, children}, other being the samples of a difference's other side. items
// says how to go on: numbers of calls; or, inverted, a call and how many samples of each side came through it.
function straight(model, node) {
	return Array.from(model.children(node.items), (call) => ({
		frame: model.frame[call], value: model.total[call], other: model.other?.total[call] ?? 0, items: call + 1,
	}));
}

function inverted(model, node) {
	const groups = new Map();
	for (const [call, n, other] of node.items) {
		if (call === 0)
			continue;
		const frame = model.frame[call - 1];
		const group = groups.get(frame) ?? { frame, value: 0, other: 0, items: [] };
		groups.set(frame, group);
		group.value += n;
		group.other += other;
		group.items.push([model.caller[call - 1], n, other]);
	}
	return [...groups.values()];
}

export function rootOf(model, isInverted) {
	const root = { name: 'all samples', label: 'all samples', value: model.samples, other: model.other?.samples ?? 0, frame: -1, isInverted };
	if (!isInverted) {
		root.items = 0;
		return root;
	}
	root.items = [];
	for (let i = 0; i < model.self.length; i++)
		if (model.self[i] || model.other?.self[i])
			root.items.push([i + 1, model.self[i], model.other?.self[i] ?? 0]);
	return root;
}

// Many narrow frames beside each other are one that says how many, and opens into them; into parts, where they are so
// many that they would be too narrow still.
function bundle(all) {
	const sum = (key) => all.reduce((n, node) => n + node[key], 0);
	return { frame: BUNDLE, value: sum('value'), other: sum('other'), items: all, name: `[${count(all.length)} narrow]`, label: '' };
}

function unbundle(node) {
	const step = Math.ceil(node.items.length / BUNDLE_MOST);
	if (step === 1)
		return node.items.map((child) => ({ ...child }));
	const parts = [];
	for (let i = 0; i < node.items.length; i += step)
		parts.push(bundle(node.items.slice(i, i + step)));
	return parts;
}

const fall = (a, b) => b.value - a.value || a.frame - b.frame;

// Fill in the tree below a root, the widest frames first. Returns what is not drawn by its own: so many frames, and
// the samples that end in them.
export function grow(model, root, names) {
	const least = root.value * NARROWEST;
	const left = { frames: 0, samples: 0, deep: false };
	let drawn = 0;
	let level = [root];
	for (let depth = 0; level.length; depth++) {
		const next = [];
		const put = (node, child) => {
			drawn++;
			child.isInverted = root.isInverted;
			if (child.frame >= 0) {
				child.name = names.short[child.frame];
				child.label = model.labels[child.frame];
			}
			child.parentNode = node;
			node.children.push(child);
			if (child.frame >= 0)
				next.push(child);
		};
		for (const node of level) {
			// What only the other side has is as narrow as can be: a bundle without it would seem to have grown by all it is.
			const all = (node.frame === BUNDLE ? unbundle(node) : (root.isInverted ? inverted : straight)(model, node))
				.filter((c) => c.value > 0 || c.other > 0).sort(fall);
			const narrow = [];
			node.children = [];
			for (const child of all) {
				if (child.value >= least && drawn < FRAMES_MOST && depth < DEPTH_MOST)
					put(node, child);
				else
					narrow.push(child);
			}
			if (narrow.length === 0)
				continue;
			const rest = bundle(narrow);
			left.frames += narrow.filter((c) => c.value > 0).length;
			left.samples += rest.value;
			left.deep ||= depth >= DEPTH_MOST;
			if (rest.value >= least && narrow.length > 1 && narrow.length < all.length + (node.frame !== BUNDLE) && depth < DEPTH_MOST)
				put(node, rest);
		}
		level = next.sort(fall);
	}
	return left;
}
