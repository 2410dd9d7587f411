// What TraceEvent makes of a nettrace file, as JSON: events by key, lost ones, and the samples by method.
//   traceevent FILE [events]      the last word: without methods
using System;
using System.Collections.Generic;
using System.IO;
using System.Text.Json;
using Microsoft.Diagnostics.Tracing;
using Microsoft.Diagnostics.Tracing.Etlx;

static class Program
{
	// Names of providers, for a source that no parser listens to.
	static readonly Dictionary<string, string> providers = new() {
		["e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"] = "Microsoft-Windows-DotNETRuntime",
		["a669021c-c450-4609-a035-5af59af4df18"] = "Microsoft-Windows-DotNETRuntimeRundown",
		["3c530d44-97ae-513a-1e6d-783e8f8e03a9"] = Sampler,
		["4bee9a1a-df53-51b4-4e8e-ef25616c166a"] = "Made-Up-Noise",
		["8c107b6c-79f8-5231-4de6-2a0e20a3f562"] = "Universal.System",
		["bc5e5d63-9799-5873-33d9-fba8316cef71"] = "Universal.Events",
	};
	const string Sampler = "Microsoft-DotNETCore-SampleProfiler";

	static void Add(Dictionary<string, long[]> counts, string name, int which)
	{
		if (!counts.TryGetValue(name, out var n))
			counts[name] = n = new long[2];
		n[which]++;
	}

	static SortedDictionary<string, long> Events(string file, out int lost)
	{
		var counts = new SortedDictionary<string, long>(StringComparer.Ordinal);
		using var source = new EventPipeEventSource(file);
		source.AllEvents += e => {
			if (!providers.TryGetValue(e.ProviderGuid.ToString(), out var provider))
				provider = e.ProviderName;
			var key = $"{provider}/{(int)e.ID}/{e.Version}";
			counts.TryGetValue(key, out var n);
			counts[key] = n + 1;
		};
		source.Process();
		lost = source.EventsLost;
		return counts;
	}

	static Dictionary<string, long[]> Methods(string file, out long samples, out long unresolved)
	{
		var counts = new Dictionary<string, long[]>();
		var etlx = TraceLog.CreateFromEventPipeDataFile(file, file + ".etlx");
		samples = unresolved = 0;
		using var log = new TraceLog(etlx);
		foreach (var e in log.Events) {
			if (e.ProviderName != Sampler)
				continue;
			samples++;
			var seen = new HashSet<string>();
			bool innermost = true;
			for (var call = e.CallStack(); call != null; call = call.Caller) {
				var name = call.CodeAddress.FullMethodName;
				if (string.IsNullOrEmpty(name)) {
					unresolved++;
					name = "?";
				}
				if (innermost)
					Add(counts, name, 0);
				if (seen.Add(name))
					Add(counts, name, 1);
				innermost = false;
			}
		}
		File.Delete(etlx);
		return counts;
	}

	static int Main(string[] args)
	{
		var events = Events(args[0], out int lost);
		var answer = new Dictionary<string, object> { ["events"] = events, ["lost"] = lost };
		if (args.Length == 1) {
			answer["methods"] = Methods(args[0], out long samples, out long unresolved);
			answer["samples"] = samples;
			answer["unresolved"] = unresolved;
		}
		Console.WriteLine(JsonSerializer.Serialize(answer));
		return 0;
	}
}
