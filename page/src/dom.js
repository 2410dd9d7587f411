// Small things about the document. Text is always set as text: names are the trace's, and can say anything.

export const $ = (id) => document.getElementById(id);

export function show(id, text) {
	$(id).textContent = text;
}

export function element(tag, text, className) {
	const e = document.createElement(tag);
	if (text !== undefined)
		e.textContent = text;
	if (className)
		e.className = className;
	return e;
}

export function button(text, click) {
	const b = element('button', text, 'link');
	b.type = 'button';
	b.addEventListener('click', click);
	return b;
}

export function option(value, text) {
	const o = element('option', text);
	o.value = value;
	return o;
}

export function options(id, pairs) {
	$(id).replaceChildren(...pairs.map(([value, text]) => option(value, text)));
}

export function count(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

export function share(n, all) {
	return `${(all ? (100 * n) / all : 0).toFixed(2)} %`;
}

// A part of all, with its sign.
export function signed(part) {
	return `${part < 0 ? '\u2212' : '+'}${Math.abs(100 * part).toFixed(2)} %`;
}

export function seconds(ns) {
	return `${(ns / 1e9).toFixed(3).replace(/\.?0+$/, '')} s`;
}
