# What the fault scripts share; sourced. They run in the root of the repository, as the e2e scripts do.
#
# A case is called fault_NN_WORDS after its row of docs/reliability.md. RD_FAULTS=full: as often and as long as that
# page says; else a short cut. RD_KEEP=DIR: the daemons' logs stay there. RD_SEED: the random numbers. A line `# figure NN TEXT` is what was measured.
#
# After a fault the oracles: O1 the digest is that of an undisturbed run; O2 every shard is merged or quarantined, none
# twice; O3 what was acknowledged is there; O4 in time; O5 no daemon ended unasked or left a sanitizer's report, and
# descriptors did not grow.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

mkdir "$scratch/in" "$scratch/out" "$scratch/log"
endpoint=${endpoint:-ipc://$scratch/broker}
full=${RD_FAULTS:-short}
seed=${RD_SEED:-$$}
echo "# RD_SEED=$seed"
starts=0
all=

# by_length SHORT FULL
by_length()
{
	[ "$full" = full ] && echo "$2" || echo "$1"
}

# roll N: $rolled is one of 0…N-1.
roll()
{
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	rolled=$(((seed / 256) % $1))
}

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

figure()
{
	echo "# figure $*"
}

sanitized()
{
	ldd "$bin/rundown" 2>/dev/null | grep -q 'libasan\|libubsan'
}

# ---- daemons

# launch NAME COMMAND...: in the background; its pid in $NAME, its log in a file of its own.
launch()
{
	name=$1
	shift
	starts=$((starts + 1))
	"$@" >/dev/null 2>"$scratch/log/$starts-$name" &
	eval "$name=$!; log_$name=$scratch/log/$starts-$name"
	all="$all $!"
}
begin_broker()
{
	launch broker $in_broker "$bin/rundown-broker" --listen "$endpoint" --state "${broker_state:-$scratch/bs}" --root / \
		--log info $broker_options
}
begin_merger()
{
	launch merger $in_merger "$bin/rundown-merger" --broker "$endpoint" --state "${merger_state:-$scratch/ms}" --log debug \
		$merger_options
}
begin_worker()
{
	launch "$1" $in_worker "$bin/rundown-worker" --broker "$endpoint" --log info $worker_options
}
begin()
{
	begin_broker
	begin_merger
	begin_worker w1
	begin_worker w2
	victims="broker merger w1 w2"
}
# kill_hard NAME; again NAME: another one in its place.
kill_hard()
{
	eval "pid=\$$1"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
}
again()
{
	case $1 in
	broker) begin_broker ;;
	merger) begin_merger ;;
	*) begin_worker "$1" ;;
	esac
}
stop_all()
{
	# One that is stopped does not hear.
	kill -CONT $all 2>/dev/null
	kill -9 $all 2>/dev/null
	wait $all 2>/dev/null
	all=
}
trap '[ -z "${RD_KEEP:-}" ] || cp -r "$scratch/log" "$RD_KEEP"; stop_all; type at_end >/dev/null 2>&1 && at_end; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

# ---- jobs

# field JOB JQ: of its status, "" when the broker is gone.
field()
{
	$in_client "$bin/rundown" status "$1" $client_options --broker "$endpoint" --format json --patience "${patience:-20s}" \
		2>/dev/null | jq -r "$2"
}
# at_least JOB N: whether N of its shards are done, or it has ended.
at_least()
{
	[ "$(field "$1" "(.shards.done >= $2 and .shards.total > 0) or (.state | IN(\"done\", \"failed\", \"cancelled\"))")" = true ]
}
until_shards()
{
	until_ok at_least "$@"
}
digest()
{
	"$bin/rundown" report "$1" --digest 2>/dev/null
}
# submit WORDS...: $job
submit()
{
	job=$($in_client "$bin/rundown" submit $client_options --broker "$endpoint" "$@" 2>"$scratch/err")
}
# finish JOB SECONDS: wait for its result; $code, $took_ms.
finish()
{
	from=$(now_ms)
	$in_client timeout "$2" "$bin/rundown" result "$1" $client_options --broker "$endpoint" --wait >"$scratch/path" 2>"$scratch/err"
	code=$?
	took_ms=$(($(now_ms) - from))
}

# traces N: copies of a small trace in $scratch/in, together $all_traces; the result of an undisturbed run, $wanted.
traces()
{
	all_traces=
	zstd -dcq "tests/traces/shop-verbose.nettrace.zst" >"$scratch/in/1.nettrace"
	i=1
	while [ $i -le "$1" ]; do
		[ $i = 1 ] || cp "$scratch/in/1.nettrace" "$scratch/in/$i.nettrace"
		all_traces="$all_traces $scratch/in/$i.nettrace"
		i=$((i + 1))
	done
	"$bin/rundown" run -q --force $all_traces -o "$scratch/out/wanted.rundown" >/dev/null || echo "# the undisturbed run failed"
	wanted=$(digest "$scratch/out/wanted.rundown")
}

# oracles NAME JOB RESULT QUARANTINED CODE: O1, O2, O3.
oracles()
{
	is "$1: exit code" "$5" "$code"
	[ "$4" != 0 ] || is "$1: O1 the digest of an undisturbed run" "$wanted" "$(digest "$3")"
	is "$1: O2 each shard is merged or quarantined" "true $4" \
		"$(field "$2" '"\(.shards.done + .shards.quarantined == .shards.total) \(.shards.quarantined)"')"
	is "$1: O3 the job is known" "done $2" "$(field "$2" '"\(.state) \(.id)"')"
}
# merged_once: of each (job, task) the mergers' logs have one commit that was no duplicate.
merged_once()
{
	cat "$scratch"/log/*-merger | sed -n 's/.*event=merged \(job=[^ ]* task=[0-9]*\) .*duplicate=0.*/\1/p' | sort | uniq -d >"$scratch/twice"
	check_empty "$1: O2 no shard was committed twice" "$scratch/twice"
}
# descriptors NAME: of the daemon.
descriptors()
{
	eval "ls /proc/\$$1/fd 2>/dev/null | wc -l | tr -d ' '"
}
# healthy CASE NAME...: O5.
healthy()
{
	case=$1
	shift
	for name; do
		eval "pid=\$$name"
		! gone "$pid" || echo "$name ended"
	done >"$scratch/ill"
	grep -hE 'Sanitizer|runtime error|event=forker_gone' "$scratch"/log/* >>"$scratch/ill" 2>/dev/null
	check_empty "$case: O5 nobody ended unasked" "$scratch/ill"
}
