#!/bin/sh
# Made-up nettrace files, read by TraceEvent as well: it counts what the generator says is right, and so does rundown.
# In these files no address is used twice, because TraceEvent knows little of time. Needs the .NET SDK; the package comes
# from its cache or from NuGet.
. tests/e2e/lib.sh

gen=${RD_BUILD:-build/release}/tests/gen/gen_trace
reader=${RD_BUILD:-build/release}/traceevent

# Built once, and again when its sources are newer.
build_reader()
{
	command -v dotnet >/dev/null || {
		why="no dotnet"
		return 1
	}
	[ -n "$(find "$reader/out/traceevent.dll" -newer tests/e2e/traceevent/Program.cs 2>/dev/null)" ] && return
	mkdir -p "$reader" && cp tests/e2e/traceevent/Program.cs tests/e2e/traceevent/traceevent.csproj "$reader" || return
	(
		cd "$reader" && DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 \
			dotnet build --disable-build-servers -c Release -o out >build.log 2>&1
	) || {
		rm -rf "$reader/out"
		why="TraceEvent cannot be built, see $reader/build.log"
		return 1
	}
}

why="no folder to build TraceEvent in"
if ! build_reader; then
	skip "TraceEvent agrees with the generator" "$why"
	plan
	exit 0
fi

# one_trace FORMAT SEED [events]
one_trace()
{
	"$gen" --format "$1" --still --samples 2000 --lives 250 --noise 1000 --seed "$2" -o "$scratch/t.nettrace" \
		--truth "$scratch/t.json" || echo "no trace" >"$scratch/differ"
	dotnet "$reader/out/traceevent.dll" "$scratch/t.nettrace" ${3:+events} >"$scratch/t.te" 2>"$scratch/err"
	jq -rn --slurpfile a "$scratch/t.json" --slurpfile t "$scratch/t.te" -f tests/e2e/traceevent/compare.jq \
		>"$scratch/differ" 2>&1 || cat "$scratch/err" >>"$scratch/differ"
	check_empty "$1, seed $2: TraceEvent says what is right" "$scratch/differ"
	"$bin/rundown" run "$scratch/t.nettrace" -o "$scratch/r" --force --shards 5 -q 2>"$scratch/err" &&
		"$bin/rundown" report "$scratch/r" --format json -o "$scratch/report.json" &&
		jq -rn --slurpfile a "$scratch/t.json" --slurpfile r "$scratch/report.json" -f tests/e2e/compare.jq \
			>"$scratch/differ" 2>&1 || cat "$scratch/err" >>"$scratch/differ"
	check_empty "$1, seed $2: so does rundown" "$scratch/differ"
}

one_trace nettrace4 3
one_trace nettrace4 6
one_trace nettrace5 4
one_trace nettrace6 3 events
plan
