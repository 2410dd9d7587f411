#!/usr/bin/env python3
"""The JSON of each command is what docs/schema says, and says nothing that stands not there.

Schemas are open, as later versions add fields; here they are closed first, so that a field without a place in them fails.
"""
import json
import os
import subprocess
import tempfile
import warnings

warnings.simplefilter("ignore")
try:
    import jsonschema
except ImportError:
    jsonschema = None

BIN = os.environ.get("RD_BIN", "build/bin")
SHARED = os.environ.get("RD_SHARED", "../shared")
cases = 0


def tell(name, wrong):
    global cases
    cases += 1
    print(f"{'not ok' if wrong else 'ok'} {cases} - {name}", flush=True)
    for line in wrong or []:
        print(f"# {line}")


def close(schema):
    """No properties but those that are named."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for part in schema.values():
            close(part)
    elif isinstance(schema, list):
        for part in schema:
            close(part)
    return schema


def schema_of(command):
    with open(f"docs/schema/{command}.schema.json", encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(close(schema))


def written(command, *words):
    run = subprocess.run([f"{BIN}/rundown", command, *words, "--format", "json"], capture_output=True, check=False)
    return json.loads(run.stdout.decode("utf-8", "surrogatepass"))


def check(name, validator, value):
    wrong = [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in validator.iter_errors(value)]
    tell(name, wrong[:10])


def check_traces():
    """inspect and events: of one trace of each kind, of several, of an archive."""
    inputs = [[f"tests/traces/{name}.nettrace.zst"] for name in ("shop-small", "site-crashed", "linux-cpu-v6")]
    inputs.append(["tests/traces"])
    for name in ("net.4.5.2.x64.etl.zip", "primitive-types.etl.zip", "gcrundownevents.etl.zip", "diaghub-dotnetcore3.1-win-x64-diagsession.zip",
                 "eventpipe-dotnetcore2.1-linux-x64-objver3.netperf.zip"):
        trace = f"{SHARED}/traces/perfview/{name}"
        if os.path.exists(trace):
            inputs.append([trace])
    for command in ("inspect", "events"):
        schema = schema_of(command)
        for words in inputs:
            check(f"{command} {os.path.basename(words[0])}", schema, written(command, *words))


def check_status(scratch):
    """A job that waits, one that is done, one that failed, one that runs; and all of them."""
    schema = schema_of("status")
    os.environ["RUNDOWN_BROKER"] = f"ipc://{scratch}/broker"
    os.environ["TMPDIR"] = scratch
    at = ["--broker", os.environ["RUNDOWN_BROKER"]]
    daemons = []

    def start(program, *words):
        daemons.append(subprocess.Popen([f"{BIN}/{program}", *words], stderr=subprocess.DEVNULL))

    def submit(trace, name, *words):
        run = subprocess.run([f"{BIN}/rundown", "submit", trace, "-o", f"{scratch}/{name}", *words], capture_output=True, text=True, check=False)
        return run.stdout.strip()

    start("rundown-broker", "--listen", os.environ["RUNDOWN_BROKER"], "--state", f"{scratch}/bs")
    start("rundown-merger", *at, "--state", f"{scratch}/ms")
    try:
        trace = "tests/traces/shop-small.nettrace.zst"
        job = submit(trace, "job")
        check("status of a job that waits", schema, written("status", job))
        check("status --top of it", schema, written("status", job, "--top", "5"))
        start("rundown-worker", *at)
        submit(trace, "done", "--wait")
        with open(f"{scratch}/bad.nettrace", "w", encoding="utf-8") as file:
            file.write("this is no trace")
        bad = submit(f"{scratch}/bad.nettrace", "bad")
        subprocess.run([f"{BIN}/rundown", "result", "--wait", bad], capture_output=True, check=False)
        check("status of a job that failed", schema, written("status", bad))
        jobs = written("status")
        check("status of all jobs", schema, jobs)
        states = sorted(job["state"] for job in jobs)
        tell("they are of several states", [] if {"done", "failed"} <= set(states) else [str(states)])
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait()


def main():
    global cases
    if jsonschema is None:
        print("ok 1 - the JSON fits its schemas # skip no jsonschema of Python\n1..1")
        return
    with tempfile.TemporaryDirectory() as scratch:
        results = {}
        for trace in ("shop-small", "shop-verbose", "site-crashed", "linux-cpu-v6"):
            results[trace] = f"{scratch}/{trace}.rundown"
            subprocess.run([f"{BIN}/rundown", "run", f"tests/traces/{trace}.nettrace.zst", "-o", results[trace], "-q"], check=False,
                           stderr=subprocess.DEVNULL)
        etl = f"{SHARED}/traces/perfview/net.4.5.2.x64.etl.zip"
        if os.path.exists(etl):
            results["etl"] = f"{scratch}/etl.rundown"
            subprocess.run([f"{BIN}/rundown", "run", etl, "-o", results["etl"], "-q", "--kind", "cpu"], check=False, stderr=subprocess.DEVNULL)
        a, b, crashed = results["shop-small"], results["shop-verbose"], results["site-crashed"]
        report, diff, top = schema_of("report"), schema_of("diff"), schema_of("top")
        for trace, result in results.items():
            check(f"report {trace}", report, written("report", result, "--stats"))
        for words in (["--stacks", "--tiers"], ["--by", "thread", "--stacks"], ["--group", "module"], ["--group", "namespace"], ["--group", "tier"],
                      ["--callers", "Fib", "--min", "1%"], ["--from", "1", "--to", "2", "--kind", "managed", "--process", "shop"],
                      ["--focus", "no such", "--ignore", "x", "--hide", "y"], ["--module", "shop", "--inverted", "--stacks"], ["--top", "3"]):
            check(f"report {' '.join(words)}", report, written("report", a, *words))
        check("report of several", report, written("report", a, crashed))
        for words in ([], ["--by", "stack", "--inverted"], ["--count", "inclusive", "--normalise", "time", "--fail-over", "1%", "--tiers"],
                      ["--normalise", "none", "--min", "5", "--group", "type", "--focus", "shop"], ["--focus", "no such"]):
            check(f"diff {' '.join(words)}", diff, written("diff", a, b, *words))
        for words in ([], ["--count", "inclusive", "--tiers", "--top", "5"], ["--group", "module"]):
            check(f"top {' '.join(words)}", top, written("top", a, b, crashed, *words))
        check_traces()
        check_status(scratch)
        value = written("report", a)
        for name, spoil in (("a field that is not in the schema", lambda v: v.update(more=1)), ("a count below 0", lambda v: v.update(samples=-1)),
                            ("a row without its count", lambda v: v["methods"][0].pop("exclusive")), ("another version", lambda v: v.update(rundown=2))):
            spoiled = json.loads(json.dumps(value))
            spoil(spoiled)
            tell(f"{name} would be seen", [] if list(report.iter_errors(spoiled)) else ["it is not"])
    print(f"1..{cases}")


main()
