// Builds the page of `rundown report --format html` into the file named (default ../report/page.html): all that comes
// before the data, in one file, with the licences of what is in it.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, readdirSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, '../report/page.html');

const bundle = await build({
	absWorkingDir: here,
	entryPoints: ['src/main.js'],
	bundle: true,
	minify: true,
	charset: 'ascii',
	format: 'iife',
	target: 'es2022',
	legalComments: 'none',
	loader: { '.css': 'empty' },
	write: false,
	metafile: true,
});
const packages = [...new Set(Object.keys(bundle.metafile.inputs)
	.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]).filter(Boolean))].sort();

function licence(name) {
	const folder = join(here, 'node_modules', name);
	const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
	const file = readdirSync(folder).find((f) => /^licen[sc]e/i.test(f));
	if (!file)
		throw new Error(`${name} has no licence file`);
	// A comment ends at two dashes; what a licence draws lines with may be such.
	const text = readFileSync(join(folder, file), 'utf8').trim().replace(/--+/g, '-');
	const notice = join(folder, 'NOTICE');
	return [`${name} ${version} (${license})`, text, existsSync(notice) ? readFileSync(notice, 'utf8') : '']
		.filter(Boolean).join('\n\n').replace(/https?:\/\//g, '');
}

// In the order in which `cat` gets them from the shell's own sorting: tests/e2e/page.sh does the same.
const sources = createHash('sha256');
for (const file of readdirSync(join(here, 'src')).sort())
	sources.update(readFileSync(join(here, 'src', file)));
for (const file of ['build.mjs', 'package-lock.json'])
	sources.update(readFileSync(join(here, file)));

const script = bundle.outputFiles[0].text.trim().replace(/<\/script/gi, '<\\/script').replace(/<!--/g, '<\\!--');
const style = readFileSync(join(here, 'src/page.css'), 'utf8').trim();
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; img-src data:`;
const fill = {
	POLICY: policy,
	SOURCES: sources.digest('hex'),
	LICENCES: packages.map(licence).join('\n\n'),
	STYLE: style,
	SCRIPT: script,
};
const page = readFileSync(join(here, 'src/page.html'), 'utf8').replace(/%([A-Z]+)%/g, (all, key) => fill[key] ?? all);
writeFileSync(target, page.trimEnd());
