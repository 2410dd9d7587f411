#!/usr/bin/env python3
"""deploy/kubernetes and deploy/container: that what they name is there, that their pods are fenced in, and that the programs
know the options. Speaks TAP; without PyYAML it skips."""
import os
import shutil
import subprocess
import sys

cases = 0


def say(good, name, why=()):
    global cases
    cases += 1
    print(f"{'ok' if good else 'not ok'} {cases} - {name}")
    for line in () if good else why:
        print("#", line)


try:
    import yaml
except ImportError:
    print("ok 1 - manifests # skip no PyYAML\n1..1")
    sys.exit(0)

HERE = "deploy/kubernetes"
BIN = os.environ.get("RD_BIN", "build/bin")


def load(path):
    with open(path, encoding="utf-8") as f:
        return [d for d in yaml.safe_load_all(f) if d]


def resources(folder):
    """All documents of a kustomization, those of its bases among them."""
    (k,) = load(f"{folder}/kustomization.yaml")
    found = []
    for r in k["resources"]:
        path = os.path.normpath(f"{folder}/{r}")
        found += resources(path) if os.path.isdir(path) else load(path)
    return found


docs = resources(f"{HERE}/overlays/example")
versions = {
    "Namespace": "v1", "ServiceAccount": "v1", "Service": "v1", "PersistentVolumeClaim": "v1",
    "StatefulSet": "apps/v1", "Deployment": "apps/v1", "CronJob": "batch/v1",
    "NetworkPolicy": "networking.k8s.io/v1", "HorizontalPodAutoscaler": "autoscaling/v2",
}
wrong = [f"{d.get('kind')} {d.get('apiVersion')}" for d in docs if versions.get(d.get("kind")) != d.get("apiVersion")]
say(not wrong, "kinds and versions", wrong)
names = [(d["kind"], d["metadata"]["name"]) for d in docs]
say(len(names) == len(set(names)), "no name twice", [str(n) for n in names])


def template(d):
    if d["kind"] == "CronJob":
        return d["spec"]["jobTemplate"]["spec"]["template"]
    return d["spec"]["template"] if d["kind"] in ("StatefulSet", "Deployment") else None


pods = {d["metadata"]["name"]: (d, template(d)) for d in docs if template(d)}
say(sorted(pods) == ["rundown-broker", "rundown-merger", "rundown-night", "rundown-worker"], "the pods", sorted(pods))

# What keys.sh makes of a folder of keys, read back.
scratch = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip()
try:
    subprocess.run([f"{BIN}/rundown", "keys", f"{scratch}/keys"], check=True, stdout=subprocess.DEVNULL)
    made = subprocess.run(["sh", f"{HERE}/keys.sh", f"{scratch}/keys"], check=True, capture_output=True, text=True).stdout
finally:
    subprocess.run(["rm", "-rf", scratch], check=True)
keys = {(d["kind"], d["metadata"]["name"]): d.get("data") or d.get("binaryData") for d in yaml.safe_load_all(made) if d}


def options(program):
    text = subprocess.run([f"{BIN}/{program[0]}", *program[1:], "--help"], capture_output=True, text=True, check=True).stdout
    return {w.strip(",") for w in text.split() if w.startswith("-")}


def check_volumes(d, spec, c):
    bad = []
    volumes = {v["name"]: v for v in spec["volumes"]}
    claims = {v["metadata"]["name"] for v in d["spec"].get("volumeClaimTemplates", [])}
    for m in c["volumeMounts"]:
        if m["name"] not in volumes and m["name"] not in claims:
            bad.append(f"no volume {m['name']}")
    for v in volumes.values():
        if "persistentVolumeClaim" in v and ("PersistentVolumeClaim", v["persistentVolumeClaim"]["claimName"]) not in names:
            bad.append(f"no claim {v['persistentVolumeClaim']['claimName']}")
        sources = v.get("projected", {}).get("sources", [])
        wanted = [("Secret", v["secret"]["secretName"], [])] if "secret" in v else []
        for s in sources:
            kind = "Secret" if "secret" in s else "ConfigMap"
            s = s.get("secret") or s["configMap"]
            wanted.append((kind, s["name"], [i["key"] for i in s["items"]]))
        for kind, name, items in wanted:
            have = keys.get((kind, name))
            if have is None or not set(items) <= set(have):
                bad.append(f"keys.sh makes no {kind} {name} with {items}")
    return bad


def check_fences(spec, c):
    bad = []
    p, s = spec["securityContext"], c["securityContext"]
    if not (p["runAsNonRoot"] and p["runAsUser"] > 0 and p["seccompProfile"]["type"] == "RuntimeDefault"):
        bad.append("the pod runs as root, or without seccomp")
    if s["allowPrivilegeEscalation"] or not s["readOnlyRootFilesystem"] or s["capabilities"]["drop"] != ["ALL"]:
        bad.append("the container may do more than it needs")
    if spec["automountServiceAccountToken"] or "memory" not in c["resources"]["limits"]:
        bad.append("a token of the cluster, or no limit of memory")
    return bad


def check_words(c):
    words = c["command"] + c["args"]
    known = options(words[:2] if words[0] == "rundown" else words[:1])
    return [f"{words[0]} has no {w}" for w in words if w.startswith("-") and w not in known]


def check_probes(c):
    ports = {p["name"] for p in c.get("ports", [])}
    return [f"{k}: no port" for k in c if k.endswith("Probe") and c[k]["httpGet"]["port"] not in ports]


for name, (d, t) in pods.items():
    spec = t["spec"]
    (c,) = spec["containers"]
    for what, bad in (
        ("volumes, claims and keys are there", check_volumes(d, spec, c)),
        ("fences", check_fences(spec, c)),
        ("the program knows the options", check_words(c)),
        ("probes have their port", check_probes(c)),
    ):
        say(not bad, f"{name}: {what}", bad)
    if "selector" in d["spec"]:
        labels = d["spec"]["selector"]["matchLabels"].items()
        say(labels <= t["metadata"]["labels"].items(), f"{name}: its selector finds its pods")
    if "serviceName" in d["spec"]:
        say(("Service", d["spec"]["serviceName"]) in names, f"{name}: its service")

components = {t["metadata"]["labels"]["app.kubernetes.io/component"]: t for _, t in pods.values()}
for d in docs:
    name = d["metadata"]["name"]
    if d["kind"] == "Service":
        t = components.get(d["spec"]["selector"]["app.kubernetes.io/component"])
        have = {p["name"] for p in t["spec"]["containers"][0]["ports"]} if t else set()
        say({p["targetPort"] for p in d["spec"]["ports"]} <= have, f"service {name}: its ports are a pod's")
    if d["kind"] == "HorizontalPodAutoscaler":
        target = d["spec"]["scaleTargetRef"]
        say((target["kind"], target["name"]) in names, f"scaler {name}: its target")
        metric = d["spec"]["metrics"][0]["external"]["metric"]["name"]
        with open("broker/metrics.c", encoding="utf-8") as f:
            say(f'"{metric}"' in f.read(), f"scaler {name}: its metric is the broker's")


def selected(selector):
    for e in selector.get("matchExpressions", []):
        yield from e["values"]
    yield from (v for k, v in selector.get("matchLabels", {}).items() if k.endswith("/component"))


unknown = [
    f"{d['metadata']['name']}: {v}" for d in docs if d["kind"] == "NetworkPolicy"
    for rule in [d["spec"]] + d["spec"].get("ingress", []) + d["spec"].get("egress", [])
    for s in [rule.get("podSelector", {})] + [p.get("podSelector", {}) for p in rule.get("from", []) + rule.get("to", [])]
    for v in selected(s) if v not in components
]
say(not unknown, "network policies name components that are there", unknown)

# ---- as the tool itself puts it together, where it is there

tool = next(([t, *more] for t, more in (("kubectl", ["kustomize"]), ("kustomize", ["build"])) if shutil.which(t)), None)
if tool is None:
    cases += 1
    print(f"ok {cases} - kustomize # skip no kubectl or kustomize")
else:
    out = subprocess.run([*tool, f"{HERE}/overlays/example"], capture_output=True, text=True, timeout=120)
    made = [d for d in yaml.safe_load_all(out.stdout) if d]
    say(out.returncode == 0 and not out.stderr, "kustomize: puts it together without a word", out.stderr.splitlines())
    say(sorted((d["kind"], d["metadata"]["name"]) for d in made) == sorted(names), "kustomize: the same documents")
    images = {template(d)["spec"]["containers"][0]["image"] for d in made if template(d)}
    say(images == {"registry.example/rundown:1.0"}, "kustomize: the image is the overlay's", images)
    say(not [d for d in made if d["kind"] == "Deployment" and "replicas" in d["spec"]], "kustomize: replicas are the scaler's")

# ---- compose

(compose,) = load("deploy/container/compose.yaml")
for name, s in compose["services"].items():
    bad = [v for v in s["volumes"] if not v.startswith("${") and v.split(":")[0] not in compose["volumes"]]
    bad += [f"depends on {x}" for x in s.get("depends_on", {}) if x not in compose["services"]]
    if s.get("command", [""])[0].startswith("rundown"):
        bad += check_words({"command": s["command"][:1], "args": s["command"][1:]})
        bad += [k for k in ("read_only", "user", "cap_drop") if k not in s]
    say(not bad, f"compose, {name}", bad)

# ---- the image: each library that the programs want comes with a package of the list, or with what those depend on


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()


with open("deploy/container/packages", encoding="utf-8") as f:
    packages = f.read().split()
sanitized = "san" in os.environ.get("RD_BUILD", "")
if sanitized or not lines("dpkg-query", "-W", "libzmq5"):
    cases += 1
    print(f"ok {cases} - libraries of the image # skip not a plain build on Debian 12")
else:
    wanted = set()
    for p in ("rundown", "rundown-broker", "rundown-merger", "rundown-worker"):
        for line in lines("objdump", "-p", f"{BIN}/{p}"):
            if "NEEDED" in line:
                wanted.add(line.split()[1])
    have = {"libc6": lines("dpkg", "-L", "libc6"), **{p: lines("dpkg", "-L", p) for p in packages}}
    files = {os.path.basename(f) for fs in have.values() for f in fs}
    missing = sorted(w for w in wanted if w not in files)
    say(not missing, "each library of the programs is in the image", missing)
with open("deploy/container/Containerfile", encoding="utf-8") as f:
    container = f.read()
copied = [w for line in container.splitlines() if line.startswith("COPY deploy") for w in line.split()[1:-1]]
say(copied and all(os.path.exists(w) for w in copied), "what the image copies is there", copied)

# ---- the API's schema, where somebody has put it: npm install kubernetes-models js-yaml

models = os.environ.get("RD_KUBERNETES_MODELS", "")
if not models or not shutil.which("node"):
    cases += 1
    print(f"ok {cases} - the API's schema # skip RD_KUBERNETES_MODELS names no folder with kubernetes-models, or no node")
else:
    files = [os.path.join(folder, f) for folder, _, names in os.walk(HERE) for f in names if f.endswith(".yaml")]
    checked = subprocess.run(["node", "tests/e2e/kubernetes_schema.cjs", os.path.abspath(models)] + files,
                             capture_output=True, text=True)
    say(checked.returncode == 0 and int(checked.stdout) == len(docs), f"the API's schema: {len(docs)} manifests",
        (checked.stdout + checked.stderr).splitlines()[-6:])

# ---- the image's own steps, minutes long, on this machine instead of in a container

if os.environ.get("RD_CONTAINER") != "full":
    cases += 1
    print(f"ok {cases} - the image's steps # skip RD_CONTAINER=full builds the image's files from the last commit")
else:
    scratch = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip()
    try:
        steps = f"mkdir {scratch}/src && git archive HEAD | tar x -C {scratch}/src && " \
            f"sh {scratch}/src/deploy/container/build.sh {scratch}/src {scratch}/out"
        built = subprocess.run(["sh", "-c", steps], capture_output=True, text=True)
        say(built.returncode == 0, "the image's steps", built.stderr.splitlines()[-5:])
        digests = []
        for rundown in (f"{scratch}/out/usr/bin/rundown", f"{BIN}/rundown"):
            result = f"{scratch}/{len(digests)}.rundown"
            subprocess.run([rundown, "run", "-q", "tests/traces/shop-small.nettrace.zst", "-o", result], check=True)
            digests += lines(rundown, "report", "--digest", result)
        say(len(digests) == 2 and digests[0] == digests[1], "the image's program gives the same digest", digests)
    finally:
        subprocess.run(["rm", "-rf", scratch], check=True)
print(f"1..{cases}")
