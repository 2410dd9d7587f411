// Each manifest against the API's published schema, as the npm package kubernetes-models has it, generated from it:
// node kubernetes_schema.cjs FOLDER FILE..., FOLDER having node_modules with kubernetes-models and js-yaml.
const { createRequire } = require("module");
const { readFileSync } = require("fs");
const [folder, ...files] = process.argv.slice(2);
const from = createRequire(`${folder}/x.js`);
const yaml = from("js-yaml");
let valid = 0;
for (const file of files)
	for (const d of yaml.loadAll(readFileSync(file, "utf8"))) {
		if (!d || d.kind === "Kustomization")
			continue;
		const Model = from(`kubernetes-models/${d.apiVersion}`)[d.kind];
		if (!Model)
			throw new Error(`${file}: no ${d.kind} in ${d.apiVersion}`);
		new Model(d).validate();
		valid++;
	}
console.log(valid);
