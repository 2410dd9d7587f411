# What daemons tell those who watch: /metrics, a page, lines of a log, words to a service manager.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

endpoint="ipc://$scratch/broker"
started=
trap 'kill -9 $started 2>/dev/null; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

for program in broker worker merger; do
	case $program in
	broker) set -- --listen "$endpoint" ;;
	merger) set -- --broker "$endpoint" --state "$scratch/none" ;;
	*) set -- --broker "$endpoint" ;;
	esac
	"$bin/rundown-$program" "$@" --http nonsense 2>"$scratch/err"
	is "a $program with a bad address: exit code" 2 $?
	is "a $program with a bad address: one line" \
		"rundown-$program: nonsense: no address of the form PORT or ADDRESS:PORT (see rundown-$program --help)" "$(cat "$scratch/err")"
done

# ---- the words of a service manager

if command -v python3 >/dev/null; then
	cat >"$scratch/manager.py" <<-'END'
		import os, socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1])
		while True:
		    word = s.recv(1000).decode()
		    print(word, flush=True)
		    if word == "STOPPING=1":
		        break
	END
	python3 "$scratch/manager.py" "$scratch/notify" >"$scratch/words" &
	manager=$!
	started="$started $manager"
	until_ok test -S "$scratch/notify"
	NOTIFY_SOCKET=$scratch/notify WATCHDOG_USEC=200000 "$bin/rundown-broker" --listen "$endpoint-n" 2>"$scratch/n" &
	broker=$!
	started="$started $broker"
	fed()
	{
		[ "$(grep -c WATCHDOG=1 "$scratch/words")" -ge 3 ]
	}
	until_ok fed
	is "a watchdog is fed while nothing happens" 0 $?
	kill -TERM $broker
	ended "told to stop" 0 $broker
	wait $manager
	is "ready comes first, stopping last" "READY=1 STOPPING=1" "$(sed -n '1p;$p' "$scratch/words" | tr '\n' ' ' | sed 's/ $//')"
else
	skip "the words of a service manager" "no python3"
fi

# ---- pages

if ! command -v curl >/dev/null; then
	skip "pages" "no curl"
	plan
	exit
fi
get()
{
	curl -s --max-time 10 "$@"
}
# address NAME: where the pages of this log's daemon are.
address()
{
	until_ok line event=pages "$scratch/$1"
	sed -n 's/.*event=pages address=//p' "$scratch/$1"
}
# metric NAME of the broker.
metric()
{
	get "http://$b/metrics" | sed -n "s/^$1 //p"
}

start b rundown-broker --listen "$endpoint" --state "$scratch/bs" --log debug --http 0
broker=$pid
start m rundown-merger --broker "$endpoint" --state "$scratch/ms" --log debug --http 127.0.0.1:0
merger=$pid
start w rundown-worker --broker "$endpoint" --log debug --http '[::1]:0'
worker=$pid
started="$started $broker $merger $worker"
b=$(address b) m=$(address m)
if line 'event=pages' "$scratch/w"; then
	w=$(address w)
else
	# A machine without IPv6.
	start w rundown-worker --broker "$endpoint" --log debug --http 0
	worker=$pid started="$started $pid" w=$(address w)
fi
case $b in 127.0.0.1:*) ok "a port alone is on loopback" ;; *) not_ok "a port alone is on loopback: $b" ;; esac
zstd -dcq tests/traces/shop-small.nettrace.zst >"$scratch/<i>.nettrace"
"$bin/rundown" submit --wait -q --shards 7 --broker "$endpoint" "$scratch/<i>.nettrace" -o "$scratch/r.rundown" >"$scratch/job" 2>"$scratch/err"
is "a job under watch: exit code" 0 $?
is "metrics: one job is done" 1 "$(metric 'rundown_jobs{state="done"}')"
is "metrics: a worker" 1 "$(metric rundown_workers)"
is "metrics: a merger" 1 "$(metric rundown_mergers)"
is "metrics: the shards are merged" 7 "$(metric rundown_shards_merged_total)"
is "metrics: attempts" 8 "$(metric rundown_attempts_total)"
is "metrics: nothing waits" 0 "$(metric rundown_queue_depth)"
is "metrics: no leases" 0 "$(metric rundown_leases)"
for name in rundown_decoded_bytes_total rundown_journal_commit_seconds_count process_resident_memory_bytes; do
	is "metrics: $name grows" true "$(metric $name | awk '{ print ($1 > 0) ? "true" : "false" }')"
done
is "metrics: every value has a type" "" "$(for a in "$b" "$m" "$w"; do get "http://$a/metrics"; done | awk '
	/^# TYPE/ { type[$3] = $4; next }
	/^#/ { next }
	{ name = $1; sub(/\{.*/, "", name); base = name; sub(/_(sum|count)$/, "", base)
	  if (!(name in type) && !(base in type)) print }
	NF != 2 && $1 !~ /"/ { print }')"
is "metrics: the merger's" 7 "$(get "http://$m/metrics" | sed -n 's/^rundown_partials_merged_total //p')"
is "metrics: the worker's" 8 "$(get "http://$w/metrics" | sed -n 's/^rundown_tasks_total //p')"
if command -v promtool >/dev/null; then
	get "http://$b/metrics" | promtool check metrics >"$scratch/out" 2>&1
	is "metrics: promtool agrees" 0 $?
fi
get "http://$b/" >"$scratch/page"
is "the page has the job" 1 "$(grep -c "$(cat "$scratch/job" | head -n 1 | sed 's/[^0-9a-f-]//g')" "$scratch/page")"
is "the page shows names as text" "1 0" "$(grep -c '&lt;i&gt;.nettrace' "$scratch/page") $(grep -c '<i>' "$scratch/page")"
is "no other page" 404 "$(get -o /dev/null -w '%{http_code}' "http://$b/../etc/passwd" --path-as-is)"
is "nothing is taken" 405 "$(get -o /dev/null -w '%{http_code}' -d x=1 "http://$b/")"
start b2 rundown-broker --listen "$endpoint-2" --http "$b"
ended "a port that is taken" 1 $pid
is "a port that is taken: one line" \
	"rundown-broker: listening for those who watch: Address already in use ($b)" "$(cat "$scratch/b2")"

# ---- who is slow or silent holds nobody up

mkfifo "$scratch/slow"
for i in 1 2 3 4 5 6 7 8; do
	curl -s --max-time 20 -T "$scratch/slow" "http://$b/" >/dev/null 2>&1 &
	started="$started $!"
done
"$bin/rundown" submit --wait -q --broker "$endpoint" "$scratch/<i>.nettrace" -o "$scratch/r2.rundown" >/dev/null 2>"$scratch/err"
is "a job while clients of the page are silent" 0 $?
is "the page while others are silent" 200 "$(get -o /dev/null -w '%{http_code}' "http://$b/")"

# ---- the log: each line about an attempt says of which job, shard and attempt

for name in b w m; do
	grep -E 'event=(task|attempt_lost|task_begins|parser_ends|merged|task_failed|quarantined) ' "$scratch/$name" >"$scratch/lines"
	is "$name: there are such lines" true "$([ -s "$scratch/lines" ] && echo true)"
	grep -vE 'job=[^ ]+ task=[0-9]+ work=(open|index|decode trace=[0-9]+ shard=[0-9]+) attempt=[0-9]+' "$scratch/lines" >"$scratch/bare"
	check_empty "$name: job, shard and attempt in each" "$scratch/bare"
	grep -vE '^level=[a-z]+ t=[0-9.]+ role=[a-z]+ event=[a-z_0-9]+( [a-z_0-9]+=("([^"\\]|\\.)*"|[^" ]+))*$' "$scratch/$name" >"$scratch/bare"
	check_empty "$name: nothing but key=value" "$scratch/bare"
done

kill -TERM $broker $merger $worker
ended "SIGTERM: the broker" 0 $broker
ended "SIGTERM: the merger" 0 $merger
ended "SIGTERM: the worker" 0 $worker
# Nobody else loads a web server.
if [ -r /proc/self/maps ]; then
	start b3 rundown-broker --listen "$endpoint-3" --log info
	started="$started $pid"
	until_ok line event=listening "$scratch/b3"
	is "without --http no web server is loaded" 0 "$(grep -c microhttpd "/proc/$pid/maps")"
	kill -TERM "$pid"
fi
plan
