// A headless Chromium spoken to over its pipe: node page_browser.mjs CHROMIUM PAGE SCRIPT [WIDTH HEIGHT PNG [dark]].
// SCRIPT is JavaScript that runs in the loaded page; what it returns is printed. Whatever the page loads besides itself,
// and whatever goes wrong in it, is printed to stderr, and the exit code is 1 then. PAGE may end in #WORDS for the page.
// With PAGE_OF_OTHERS=1 in the environment it is a program's that may load files beside itself and print what it likes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [chromium, page, script, width = '1280', height = '900', png, scheme = 'light'] = process.argv.slice(2);
const ofOthers = process.env.PAGE_OF_OTHERS === '1';
const profile = mkdtempSync(join(tmpdir(), 'rundown-page-'));
const browser = spawn(chromium, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
	'--disable-background-networking', '--disable-extensions', '--remote-debugging-pipe', `--user-data-dir=${profile}`,
	'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const [, , , input, output] = browser.stdio;
const waiting = new Map(), listeners = new Map(), wrong = [];
let last = 0, rest = '';

output.setEncoding('utf8');
output.on('data', (text) => {
	const parts = (rest + text).split('\0');
	rest = parts.pop();
	for (const part of parts) {
		const message = JSON.parse(part);
		if (message.id) {
			const { good, bad } = waiting.get(message.id);
			waiting.delete(message.id);
			message.error ? bad(new Error(message.error.message)) : good(message.result);
		} else {
			listeners.get(message.method)?.(message.params);
		}
	}
});

function call(method, params = {}, sessionId = undefined) {
	return new Promise((good, bad) => {
		waiting.set(++last, { good, bad });
		input.write(JSON.stringify({ id: last, method, params, sessionId }) + '\0');
	});
}

async function run() {
	const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
	const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
	const here = (method, params) => call(method, params, sessionId);
	const [file, words] = page.split('#');
	const url = pathToFileURL(resolve(file)).href, beside = url.slice(0, url.lastIndexOf('/') + 1);
	const mayLoad = (asked) => asked === url || asked.startsWith('data:') || (ofOthers && asked.startsWith(beside));
	listeners.set('Network.requestWillBeSent', ({ request }) => mayLoad(request.url) || wrong.push(`loads ${request.url.slice(0, 200)}`));
	listeners.set('Runtime.exceptionThrown', ({ exceptionDetails: e }) =>
		wrong.push(`throws ${e.exception?.description ?? e.text}`));
	if (!ofOthers) {
		listeners.set('Log.entryAdded', ({ entry }) => wrong.push(`logs ${entry.text}`));
		listeners.set('Runtime.consoleAPICalled', ({ args }) => wrong.push(`prints ${args.map((a) => a.value).join(' ')}`));
	}
	const loaded = new Promise((good) => listeners.set('Page.loadEventFired', good));
	for (const domain of ['Page', 'Network', 'Runtime', 'Log'])
		await here(`${domain}.enable`);
	await here('Emulation.setDeviceMetricsOverride', { width: Number(width), height: Number(height), deviceScaleFactor: 1, mobile: false });
	await here('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
	const begun = Date.now();
	await here('Page.navigate', { url: words ? `${url}#${words}` : url });
	await loaded;
	process.env.PAGE_TIME && console.error(`loaded in ${Date.now() - begun} ms`);
	const { result, exceptionDetails } = await here('Runtime.evaluate',
		{ expression: `(async () => { ${readFileSync(script, 'utf8')} })()`, awaitPromise: true, returnByValue: true });
	if (exceptionDetails)
		wrong.push(`the script throws ${exceptionDetails.exception?.description}`);
	else
		console.log(typeof result.value === 'string' ? result.value : JSON.stringify(result.value));
	if (png)
		writeFileSync(png, Buffer.from((await here('Page.captureScreenshot', { format: 'png' })).data, 'base64'));
}

const limit = setTimeout(() => { console.error('no answer in 90 s'); browser.kill('SIGKILL'); process.exit(1); }, 90000);
try {
	await run();
} catch (e) {
	wrong.push(e.message);
}
clearTimeout(limit);
await Promise.race([call('Browser.close').catch(() => {}), new Promise((good) => setTimeout(good, 2000))]);
const ended = new Promise((good) => browser.on('exit', good));
browser.kill('SIGKILL');
await ended;
// Its children may write on for a moment.
for (let tries = 0; tries < 20; tries++) {
	try {
		rmSync(profile, { recursive: true, force: true });
		break;
	} catch {
		await new Promise((good) => setTimeout(good, 100));
	}
}
for (const line of wrong)
	console.error(line);
process.exit(wrong.length ? 1 : 0);
