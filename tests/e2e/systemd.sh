# The units of deploy/systemd: what systemd says of them, and whether their commands do a night's work.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

prefix=$scratch/usr
units=$prefix/lib/systemd/system
mkdir -p "$prefix/bin"
for program in rundown rundown-broker rundown-merger rundown-worker; do
	ln -s "$(cd "$bin" && pwd)/$program" "$prefix/bin/$program"
done
# Not `install`: the programs are there, and whoever tests a sanitizer's build wants no other.
"${MAKE:-make}" -s --no-print-directory install-deploy PREFIX="$prefix" >"$scratch/log" 2>&1
is "make install-deploy: exit code" 0 $?
is "make install-deploy: the units" \
	"rundown-broker.service rundown-merger.service rundown-night@.service rundown-night@.timer rundown-worker@.service" \
	"$(ls "$units" | tr '\n' ' ' | sed 's/ $//')"
is "no unit has a hole left" "" "$(grep -l '@BIN@' "$units"/*)"
[ -f "$prefix/lib/sysusers.d/rundown.conf" ] && ok "the user's declaration" || not_ok "the user's declaration"

# ---- what systemd says

if command -v systemd-analyze >/dev/null; then
	systemd-analyze verify --man=no "$units/rundown-broker.service" "$units/rundown-merger.service" \
		"$units/rundown-worker@1.service" "$units/rundown-night@folder.service" "$units/rundown-night@folder.timer" \
		>"$scratch/out" 2>&1
	is "systemd-analyze verify: exit code" 0 $?
	grep "rundown" "$scratch/out" >"$scratch/said"
	check_empty "systemd-analyze verify says nothing" "$scratch/said"
	for unit in "$units"/*.service; do
		name=${unit##*/}
		systemd-analyze security --offline=yes "$unit" 2>/dev/null | sed -n 's/.*exposure level for [^ ]*: \([0-9.]*\).*/\1/p' >"$scratch/score"
		awk 'NR == 1 && $1 != "" && $1 <= 1.5 { good = 1 } END { exit !good }' "$scratch/score" &&
			ok "$name: exposure of at most 1.5" || not_ok "$name: exposure of at most 1.5" "$scratch/score"
	done
else
	skip "systemd-analyze verify and security" "no systemd-analyze"
fi

# ---- the filters of calls: all that broker, merger, worker and client ask for in a job

# calls WORD...: names and sets of systemd, as names.
calls()
{
	for word; do
		case $word in
		@*) calls $(systemd-analyze syscall-filter "$word" | sed -n '2,$s/^ *\([a-z@][a-z0-9_-]*\)$/\1/p') ;;
		*) echo "$word" ;;
		esac
	done
}
if ! command -v strace >/dev/null || ! command -v systemd-analyze >/dev/null; then
	skip "the filters of calls" "no strace or no systemd-analyze"
elif case ${RD_BUILD:-} in *san-*) true ;; *) false ;; esac then
	skip "the filters of calls" "sanitizers ask for more"
else
	strace -f -qq -e signal=none -o "$scratch/strace" "$bin/rundown" run -q --shards 3 \
		tests/traces/shop-small.nettrace.zst -o "$scratch/strace.rundown" >"$scratch/out" 2>&1
	is "a run whose calls are looked at: exit code" 0 $?
	sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' "$scratch/strace" | sort -u >"$scratch/asked"
	calls @default >"$scratch/default"
	for unit in "$units"/*.service; do
		name=${unit##*/}
		# As systemd reads them: each line adds to or takes from those before.
		: >"$scratch/allowed"
		sed -n 's/^SystemCallFilter=//p' "$unit" >"$scratch/filter"
		while read -r line; do
			case $line in
			"~"*)
				calls ${line#"~"} >"$scratch/taken"
				grep -vxF -f "$scratch/taken" "$scratch/allowed" >"$scratch/rest"
				mv "$scratch/rest" "$scratch/allowed"
				;;
			*) calls $line >>"$scratch/allowed" ;;
			esac
		done <"$scratch/filter"
		# Only a worker fences in.
		case $name in
		rundown-worker*) cp "$scratch/asked" "$scratch/its" ;;
		*) grep -v '^seccomp$\|^landlock_' "$scratch/asked" >"$scratch/its" ;;
		esac
		cat "$scratch/default" "$scratch/allowed" | grep -vxF -f - "$scratch/its" >"$scratch/missing"
		check_empty "$name: its filter has all calls of a job" "$scratch/missing"
	done
fi

# ---- the commands, as a manager starts them, each with its own folders

etc=$scratch/etc
mkdir "$etc"
"$bin/rundown" keys "$etc/keys" >/dev/null
mkdir -p "$scratch/night"
cp tests/traces/shop-small.nettrace.zst tests/traces/site-crashed.nettrace.zst "$scratch/night/"
port=$((20000 + $$ % 12000))
export RUNDOWN_LISTEN="tcp://127.0.0.1:$port" RUNDOWN_BROKER="tcp://127.0.0.1:$port" RUNDOWN_ROOTS="$scratch"
export TRACES="$scratch/night" RESULTS="$scratch/results"
mkdir "$RESULTS"

# unit_folders NAME UNIT: credentials, runtime and state as the unit asks for them.
unit_folders()
{
	export CREDENTIALS_DIRECTORY="$scratch/run/$1/credentials" RUNTIME_DIRECTORY="$scratch/run/$1/run" \
		STATE_DIRECTORY="$scratch/run/$1/state"
	mkdir -p "$CREDENTIALS_DIRECTORY" "$RUNTIME_DIRECTORY" "$STATE_DIRECTORY"
	sed -n 's/^LoadCredential=//p' "$2" | sed "s,/etc/rundown,$etc,g" >"$scratch/credentials-$1"
	while IFS=: read -r to from; do
		cp -p "$from" "$CREDENTIALS_DIRECTORY/$to" || return 1
	done <"$scratch/credentials-$1"
}

# command_of KEY UNIT: a unit's lines as a shell's; ${X} is one word, $X several, in both. The worker's fences are this kernel's.
command_of()
{
	sed -n "s/^$1=//p" "$2" | sed -e "s,/etc/rundown,$etc,g" -e 's/\(\${[A-Z_]*}\(\/[a-z.]*\)*\)/"\1"/g' -e 's/ --require-sandbox//'
}

run_unit()
{
	unit_folders "$1" "$units/$2" || return 1
	eval "$(command_of ExecStartPre "$units/$2")" || return 1
	eval "exec timeout 120 $(command_of ExecStart "$units/$2")" 2>"$scratch/last-$1"
}

run_unit broker rundown-broker.service &
broker=$!
run_unit merger rundown-merger.service &
merger=$!
run_unit worker rundown-worker@.service &
worker=$!
trap 'kill -9 $broker $merger $worker 2>/dev/null; chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT

(run_unit night rundown-night@.service) >"$scratch/ids"
is "a night with a trace that was cut: exit code" 3 $?
is "a night: a job each" 2 "$(wc -l <"$scratch/ids" | tr -d ' ')"
is "a night: a result each" "shop-small.nettrace.zst.rundown site-crashed.nettrace.zst.rundown" "$(echo $(ls "$RESULTS"))"
before=$(ls -i "$RESULTS"/*/data.mdb)
(run_unit night rundown-night@.service) >"$scratch/ids"
is "the next night: exit code" 3 $?
is "the next night nothing is made anew" "$before" "$(ls -i "$RESULTS"/*/data.mdb)"
rm "$etc/keys/authorised/client.public"
sleep 1
RUNDOWN_NIGHT_OPTIONS="--patience 2s"
export RUNDOWN_NIGHT_OPTIONS
(run_unit night rundown-night@.service) >"$scratch/ids"
is "a key that was deleted is gone, through the link: exit code" 1 $?
line 'does not let this key in' "$scratch/last-night"
is "a key that was deleted is gone: says why" 0 $?
kill -TERM $broker $merger $worker
ended "SIGTERM: the broker" 0 $broker
ended "SIGTERM: the merger" 0 $merger
ended "SIGTERM: the worker" 0 $worker
plan
