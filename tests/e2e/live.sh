#!/bin/sh
# Where .NET is on the machine: a small program is recorded as a user does it, and its hot method stands on top.
# dotnet-trace is taken from the PATH or $RD_DOTNET_TRACE, else installed below the scratch folder.
. tests/e2e/lib.sh

# all_skipped WHY: for machines that cannot do this.
all_skipped()
{
	skip "live: dotnet-trace collect" "$1"
	skip "live: dotnet-trace collect-linux" "$1"
	plan
	exit 0
}

command -v dotnet >/dev/null || all_skipped "no dotnet on this machine"
version=$(dotnet --list-sdks 2>/dev/null | sed -n 's/^\([0-9]*\.[0-9]*\)\..*/\1/p' | tail -n 1)
[ -n "$version" ] || all_skipped "no .NET SDK on this machine"

bin=$(cd "$bin" && pwd)
mkdir "$scratch/tmp" "$scratch/hot"
export TMPDIR="$scratch/tmp" DOTNET_CLI_HOME="$scratch" DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1
export DOTNET_GENERATE_ASPNET_CERTIFICATE=false DOTNET_SKIP_FIRST_TIME_EXPERIENCE=1
: "${DOTNET_ROOT:=$(dirname "$(readlink -f "$(command -v dotnet)")")}"
export DOTNET_ROOT

trace=${RD_DOTNET_TRACE:-$(command -v dotnet-trace || :)}
if [ -z "$trace" ]; then
	timeout 30 dotnet tool install dotnet-trace --tool-path "$scratch/tools" >"$scratch/out" 2>&1 ||
		all_skipped "no dotnet-trace, and it cannot be installed"
	trace=$scratch/tools/dotnet-trace
fi

# ---- the program: half of its time in Shop.Hot.Burn, a few per cent in Shop.Hot.Warm; one thread waits

cat >"$scratch/hot/hot.csproj" <<-END
	<Project Sdk="Microsoft.NET.Sdk">
	  <PropertyGroup>
	    <OutputType>Exe</OutputType>
	    <TargetFramework>net$version</TargetFramework>
	    <UseAppHost>false</UseAppHost>
	  </PropertyGroup>
	</Project>
END
cat >"$scratch/hot/Program.cs" <<-'END'
	using System;
	using System.Diagnostics;
	using System.Runtime.CompilerServices;
	using System.Threading;
	namespace Shop
	{
	    class Hot
	    {
	        static long sum;
	        [MethodImpl(MethodImplOptions.NoInlining)]
	        static void Burn(int n) { for (int i = 0; i < n; i++) sum = sum * 31 + i; }
	        [MethodImpl(MethodImplOptions.NoInlining)]
	        static void Warm(int n) { for (int i = 0; i < n; i++) sum = sum * 17 + i; }
	        static void Main(string[] words)
	        {
	            var waits = new Thread(() => Thread.Sleep(Timeout.Infinite)) { IsBackground = true };
	            waits.Start();
	            var clock = Stopwatch.StartNew();
	            while (clock.Elapsed.TotalSeconds < int.Parse(words[0])) { Burn(1000000); Warm(50000); }
	            Console.WriteLine(sum);
	        }
	    }
	}
END
timeout 120 dotnet build "$scratch/hot/hot.csproj" -c Release -o "$scratch/app" -v quiet >"$scratch/out" 2>&1 ||
	all_skipped "no program can be built"

# ---- dotnet-trace collect: thread time of one process, with the rundown at its end

timeout 60 "$trace" collect -o "$scratch/hot.nettrace" -- dotnet "$scratch/app/hot.dll" 4 >"$scratch/out" 2>&1
status=$?
if [ $status -ne 0 ] || [ ! -s "$scratch/hot.nettrace" ]; then
	not_ok "live: dotnet-trace collect ends well" "$scratch/out"
else
	"$bin/rundown" run "$scratch/hot.nettrace" -o "$scratch/r" -q 2>"$scratch/err"
	is "live: collect: exit code" 0 $?
	"$bin/rundown" report "$scratch/r" --kind managed --format json >"$scratch/json"
	is "live: collect: the hot method stands on top" '["hot","Shop.Hot","Burn"]' \
		"$(jq -c '.methods | max_by(.exclusive) | [.module, .namespace, .name]' "$scratch/json")"
	is "live: collect: and has most of what runs" true "$(jq '([.methods[].exclusive] | max) > .samples / 2' \
		"$scratch/json")"
	is "live: collect: the rundown is complete" '["complete",[]]' \
		"$(jq -c '.trust | [.rundown, .missing_providers]' "$scratch/json")"
	is "live: collect: frames have names" true \
		"$(jq '.trust.unresolved_frames * 50 < .trust.frames and .trust.malformed_events == 0' "$scratch/json")"
fi

# ---- dotnet-trace collect-linux: CPU samples by the kernel, native code too

linux()
{
	timeout 60 "$trace" collect-linux -o "$scratch/cpu.nettrace" --duration 00:00:00:04 >"$scratch/out" 2>&1
}
if [ "$(id -u)" -ne 0 ]; then
	skip "live: dotnet-trace collect-linux" "needs root"
elif [ ! -e /sys/kernel/tracing/user_events_data ]; then
	skip "live: dotnet-trace collect-linux" "the kernel offers no user_events"
elif ! "$trace" collect-linux --help >/dev/null 2>&1; then
	skip "live: dotnet-trace collect-linux" "this dotnet-trace does not know it"
else
	DOTNET_PerfMapEnabled=1 dotnet "$scratch/app/hot.dll" 12 >/dev/null 2>&1 &
	hot=$!
	sleep 1
	linux
	status=$?
	kill $hot 2>/dev/null
	wait $hot 2>/dev/null
	if [ $status -ne 0 ] || [ ! -s "$scratch/cpu.nettrace" ]; then
		why=$(grep -m 1 '^Error' "$scratch/out" | tr -d '\r#' | cut -c 1-100)
		skip "live: dotnet-trace collect-linux" "not allowed here: ${why:-exit code $status}"
	else
		"$bin/rundown" run "$scratch/cpu.nettrace" -o "$scratch/r" --force -q 2>"$scratch/err"
		is "live: collect-linux: exit code" 0 $?
		"$bin/rundown" report "$scratch/r" --process $hot --kind cpu --format json >"$scratch/json"
		is "live: collect-linux: the hot method stands on top" 'Burn' \
			"$(jq -r '.methods | max_by(.exclusive) | .name' "$scratch/json" | sed 's/.*\(Burn\).*/\1/')"
	fi
fi

plan
