// What the page is of, and how far it can be trusted.
import { $, count, element, seconds, share, show } from './dom.js';

function traceWords(t) {
	return `${t.path}${t.member ? ` (${t.member})` : ''}: ${t.format} ${t.version}, ${count(t.bytes)} bytes, ` +
		`${seconds(t.duration_ns)}${t.start ? ` from ${t.start}` : ''}`;
}

function doubts(report) {
	const t = report.trust;
	const some = (n, words) => n ? [`${count(n)} ${words}`] : [];
	return [
		...report.traces.filter((x) => !x.complete).map((x) => `${x.path} is cut or damaged` +
			(x.cut_at !== null ? ` at byte ${count(x.cut_at)}` : '') + (x.damage ? `: ${x.damage}` : '')),
		...t.quarantined.map((q) => `bytes ${count(q.from)} to ${count(q.to)} of trace ${q.trace} could not be worked through`),
		...some(t.lost_events, 'events were lost by the recorder'),
		...some(t.lost_buffers, 'buffers were lost by the recorder'),
		...(t.rundown !== 'complete' ? [`the list of methods at the end is ${t.rundown === 'none' ? 'missing' : t.rundown}`] : []),
		...(t.missing_providers.length ? [`not recorded: ${t.missing_providers.join(', ')}`] : []),
		...some(t.unresolved_frames, `frames (${share(t.unresolved_frames, t.frames)}) have no known method`),
		...some(t.ambiguous_frames, 'frames are of an address with two methods'),
		...some(t.samples_without_stack, 'samples have no stack'),
		...some(t.broken_stacks, 'stacks lack their user part'),
		...some(t.unowned_samples, 'samples are of no known process'),
		...some(t.malformed_events, 'events are malformed'),
		...some(t.samples_in_rundown, 'samples were taken while the end rundown was written'),
	];
}

export function head(report) {
	const [first, ...more] = report.traces;
	const name = first ? first.path.slice(first.path.lastIndexOf('/') + 1) : 'no trace';
	const title = name + (more.length ? ` and ${count(more.length)} more` : '');
	document.title = `${title} \u2013 rundown`;
	show('title', title);
	const kinds = Object.entries(report.kinds).map(([kind, n]) => `${count(n)} ${kind}`).join(', ');
	const words = (filter) => Object.entries(filter ?? {}).map(([key, value]) => key.endsWith('_ns') ?
		`${key.slice(0, -3)} ${seconds(value)}` : `${key} ${value}`).join(', ');
	const ran = words(report.filter), view = words(report.view);
	const lines = [
		`${count(report.samples)} samples${kinds ? ` (${kinds})` : ''}` +
			(report.discarded ? `, ${count(report.discarded)} outside the filter` : '') +
			(report.thread_time ? '. Thread time: threads that wait count like those that work' : ''),
		...report.traces.slice(0, 20).map(traceWords),
		...(ran ? [`Profiled of it: ${ran}`] : []),
		...(view ? [`Shown of that: ${view}`] : []),
	];
	$('summary').replaceChildren(...lines.flatMap((line, i) => [...(i ? [element('br')] : []), line]));
	const all = doubts(report);
	show('trust-head', report.trust.complete ? 'Trust: the input is whole' : 'Trust: the input is NOT whole');
	$('trust-head').className = report.trust.complete ? 'good' : 'bad';
	$('trust').replaceChildren(...all.map((line) => element('li', line)));
}
