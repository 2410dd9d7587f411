# deploy/slurm below a real Slurm, which this starts by itself: three nodes by name on one machine, and munge.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

no_slurm()
{
	skip "jobs of Slurm" "$1"
	plan
	exit 0
}
for program in munged slurmctld slurmd sbatch srun scontrol scancel squeue; do
	command -v $program >/dev/null || PATH=$PATH:/usr/sbin
	command -v $program >/dev/null || no_slurm "no $program"
done
[ "$(id -u)" = 0 ] || no_slurm "slurmd wants root"

# ---- a cluster

here=$(pwd)
s=$scratch/slurm
chmod 755 "$scratch"
mkdir -p "$s/munge" "$s/run" "$s/state"
chmod 700 "$s/munge"
head -c 1024 /dev/urandom >"$s/munge/key"
chmod 600 "$s/munge/key"
end_slurm()
{
	scancel -u root >/dev/null 2>&1
	# The nodes' daemons end what was cancelled; without them it stays.
	tries=75
	while [ $((tries -= 1)) -gt 0 ] && [ -n "$(squeue -h 2>/dev/null)" ]; do
		sleep 0.2
	done
	for file in "$s"/run/slurmd.*.pid "$s/run/slurmctld.pid" "$s/munge/pid"; do
		[ ! -s "$file" ] || kill "$(cat "$file")" 2>/dev/null
	done
}
munged --socket="$s/run/munge" --key-file="$s/munge/key" --pid-file="$s/munge/pid" --log-file="$s/munge/log" \
	--seed-file="$s/munge/seed" >"$scratch/out" 2>&1 || no_slurm "munged does not start"
port=$((33000 + $$ % 1000 * 10))
host=$(hostname)
cat >"$s/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$s/run/munge
CredType=cred/munge
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=10
MinJobAge=600
SchedulerParameters=batch_sched_delay=0,sched_interval=2
StateSaveLocation=$s/state
SlurmdSpoolDir=$s/spool.%n
SlurmctldPidFile=$s/run/slurmctld.pid
SlurmdPidFile=$s/run/slurmd.%n.pid
SlurmctldLogFile=$s/slurmctld.log
SlurmdLogFile=$s/slurmd.%n.log
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2
NodeName=n3 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 3)) CPUs=2
PartitionName=all Nodes=n1,n2,n3 Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$s/slurm.conf"
trap 'end_slurm; sleep 1; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT
slurmctld >"$scratch/out" 2>&1 || no_slurm "slurmctld does not start"
for node in n1 n2 n3; do
	slurmd -N $node >"$scratch/out" 2>&1 || no_slurm "slurmd does not start"
done
idle()
{
	[ "$(sinfo -h -N -o %T 2>/dev/null | grep -c idle)" -eq 3 ]
}
until_ok idle || until_ok idle || no_slurm "the nodes do not come up"

# ---- traces, and what is right

export RUNDOWN_BIN RUNDOWN_LOG=debug RUNDOWN_HOST=127.0.0.1 TMPDIR="$scratch/tmp"
RUNDOWN_BIN=$(cd "$bin" && pwd)
mkdir -p "$TMPDIR" "$scratch/in" "$scratch/cut"
# Enough for all that is done to the job while it runs.
copies=24
i=0
while [ $((i += 1)) -le $copies ]; do
	zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/in/shop$i.nettrace"
done
zstd -dcq tests/traces/site-crashed.nettrace.zst >"$scratch/cut/site.nettrace"
"$bin/rundown" run -q "$scratch/in/shop1.nettrace" -o "$scratch/shop.run"
shop=$("$bin/rundown" report --digest "$scratch/shop.run")
"$bin/rundown" run -q "$scratch/cut/site.nettrace" -o "$scratch/site.run" 2>/dev/null
site=$("$bin/rundown" report --digest "$scratch/site.run")

state_of()
{
	scontrol show job -o "$1" 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p' | head -n 1
}
is_state()
{
	[ "$(state_of "$1")" = "$2" ]
}
# ends ID: its state when it has ended, within two minutes.
ends()
{
	tries=600
	while [ $tries -gt 0 ]; do
		case $(state_of "$1") in
		PENDING | CONFIGURING | RUNNING | COMPLETING | REQUEUED | '') ;;
		*) break ;;
		esac
		tries=$((tries - 1))
		sleep 0.2
	done
	state_of "$1"
}
# asks JOBFOLDER JQ: the broker of a job, of its jobs.
asks()
{
	"$bin/rundown" status --broker "$(head -n 1 "$1/endpoint" 2>/dev/null)" --keys "$1/keys/client" --patience 2s --format json 2>/dev/null |
		jq -r "$2"
}
done_shards()
{
	[ "$(asks "$1" '[.[].shards.done] | add' || echo 0)" -ge "$2" ] 2>/dev/null
}
# connected JOBFOLDER: workers that came and did not go, by the broker's log.
connected()
{
	echo $(($(grep -c 'event=hello .*role=1' "$1/broker.log") - $(grep -c 'event=gone .*role=1' "$1/broker.log")))
}
are_connected()
{
	[ "$(connected "$1")" -eq "$2" ]
}
# until_minute COMMAND...: once in a while, by the clock, as each try asks a daemon.
until_minute()
{
	end=$(($(date +%s) + 45))
	while ! "$@"; do
		[ "$(date +%s)" -lt $end ] || return 1
		sleep 0.2
	done
}

# ---- a job, workers that come and go, a step that is killed, a requeue

submitted=$(RUNDOWN_OPTIONS="--shard-size 8KB" sbatch --parsable --ntasks=2 --output="$scratch/main.log" \
	"$here/deploy/slurm/rundown.sbatch" "$scratch/res" "$scratch/in")
job=$scratch/res/.rundown-$submitted
until_minute done_shards "$job" 20
is "a job works" 0 $?
is "its folder is its owner's" 700 "$(stat -c %a "$job")"
is "its keys are their owner's" "" "$(find "$job/keys" -name '*.secret' ! -perm 600)"
more=$(sbatch --parsable --array=1-3 --output="$scratch/more.%a.log" "$here/deploy/slurm/rundown-workers.sbatch" "$job")
until_minute are_connected "$job" 5
is "an array of three workers joins two" 0 $?
scancel "${more}_1" "${more}_2"
until_minute are_connected "$job" 3
is "two of them go" 0 $?
step=$(squeue -h -s -j "$submitted" -o %i | grep "^$submitted\.[0-9]" | head -n 1)
scancel --signal=KILL "$step"
new_step()
{
	squeue -h -s -j "$submitted" -o %i | grep "^$submitted\.[0-9]" | grep -qvx "$step" && are_connected "$job" 3
}
until_minute new_step
is "a step that is killed is started again" 0 $?
before=$(asks "$job" '[.[].shards.done] | add')
scontrol requeue "$submitted"
until_minute is_state "$submitted" PENDING
is "a requeue: it waits" 0 $?
[ ! -e "$job/endpoint" ] && [ ! -e "$job/keys" ] && ok "meanwhile there are no keys" || not_ok "meanwhile there are no keys"
# Slurm would let it wait for two minutes. A node takes no credential of the second in which it ended the life before.
sleep 2
scontrol update jobid="$submitted" starttime=now
until_minute test -s "$job/endpoint"
until_minute are_connected "$job" 3
is "it works again, and who had joined is with it" 0 $?
after=$(asks "$job" '[.[].shards.done] | add')
[ "${before:-0}" -gt 0 ] && [ "${after:-0}" -ge "$before" ] && ok "what was done on the same node is not done again" || {
	echo "before $before, after $after" >"$scratch/why"
	not_ok "what was done on the same node is not done again" "$scratch/why"
}
is "the job ends well" COMPLETED "$(ends "$submitted")"
for result in "$scratch/res"/*.rundown; do
	"$bin/rundown" report --digest "$result" 2>&1
done | sort | uniq -c | sed 's/^ *//' >"$scratch/digests"
echo "# digest of a run: $shop; of $copies results below Slurm: $(cat "$scratch/digests")"
is "all have the digest of a run" "$copies $shop" "$(cat "$scratch/digests")"
is "the workers that joined end with it" COMPLETED "$(ends "${more}_3")"
is "nothing is left beside the results" "" "$(ls -A "$scratch/res" | grep -v 'nettrace.rundown$'; ls -A "$TMPDIR")"

# ---- scancel

submitted=$(RUNDOWN_OPTIONS="--shard-size 8KB --force" sbatch --parsable --ntasks=2 --output="$scratch/cancel.log" \
	"$here/deploy/slurm/rundown.sbatch" "$scratch/none" "$scratch/in")
job=$scratch/none/.rundown-$submitted
until_minute done_shards "$job" 5
scancel "$submitted"
is "scancel" CANCELLED "$(ends "$submitted")"
nothing_left()
{
	[ -z "$(ls -A "$scratch/none" | grep -v 'nettrace.rundown$'; ls -A "$TMPDIR")" ]
}
until_minute nothing_left
is "after scancel nothing is left" 0 $?

# ---- a night: a folder with a cut trace, another, and the report that waits for both

mkdir "$scratch/night"
mv "$scratch/in" "$scratch/night/shops"
mv "$scratch/cut" "$scratch/night/sites"
ids=$("$here/deploy/slurm/night.sh" "$scratch/night" "$scratch/out.night" --ntasks=1)
set -- $ids
is "a night: a job for each folder, and the report" 3 $#
is "the report has run" COMPLETED "$(ends "$3")"
is "a trace that was cut: its job is no failure" COMPLETED "$(state_of "$2")"
is "the report tells all results" $((copies + 1)) "$(grep -c '^== ' "$scratch/out.night/report.txt")"
is "a night: the digest of a run" "$shop $site" \
	"$("$bin/rundown" report --digest "$scratch/out.night/shops/shop3.nettrace.rundown") $("$bin/rundown" report --digest "$scratch/out.night/sites/site.nettrace.rundown" 2>/dev/null)"

# ---- the example of docs/nightly.md, over the same night: what is done is not done again

block slurm docs/nightly.md >"$scratch/night-and-trend"
trend=$(PATH=$RUNDOWN_BIN:$PATH sh "$scratch/night-and-trend" "$scratch/night" "$scratch/out.night" --ntasks=1)
is "a night and its trend" COMPLETED "$(ends "$trend")"
is "the trend is of all results" $((copies + 1)) "$(sed 1d "$scratch/out.night/trend.csv" | cut -d, -f1 | sort -u | wc -l | tr -d ' ')"
plan
