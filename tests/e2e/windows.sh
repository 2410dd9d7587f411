#!/bin/sh
# rundown-record.exe is built where there is a compiler for Windows, and needs what every Windows 10 has.
. tests/e2e/lib.sh

compiler=${MINGW_CC:-x86_64-w64-mingw32-gcc}
make -s windows MINGW_CC=no-such-compiler BUILD="$scratch/none" >"$scratch/out" 2>&1
is "without a compiler: exit code and a line that says what is missing" "0 1" "$? $(grep -c 'no no-such-compiler: apt-get install' "$scratch/out")"
if command -v "$compiler" >/dev/null; then
	make -s windows BUILD="$scratch/build" >"$scratch/out" 2>&1
	is "it is built" 0 $?
	check_empty "without a warning" "$scratch/out"
	exe=$scratch/build/windows/rundown-record.exe
	"${compiler%gcc}objdump" -p "$exe" >"$scratch/dump"
	is "libraries of Windows only" "" "$(sed -n 's/.*DLL Name: //p' "$scratch/dump" | grep -ivx 'advapi32.dll\|kernel32.dll\|msvcrt.dll\|ucrtbase.dll\|api-ms-win-.*')"
	for call in StartTraceA EnableTraceEx2 TraceQueryInformation TraceSetInformation ControlTraceA; do
		grep -q "$call" "$scratch/dump" && ok "it calls $call" || not_ok "it calls $call"
	done
else
	skip "it is built" "no $compiler"
fi
plan
