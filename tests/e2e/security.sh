# Over tcp: who may speak to a broker, as what, and until when.
. "${RD_ROOT:-.}/tests/e2e/lib.sh"

keys=$scratch/keys
work=$scratch/work
mkdir -p "$work"
started=
trap 'kill -9 $started 2>/dev/null; chmod -R u+rwx "$scratch" 2>/dev/null; rm -rf "$scratch"' EXIT

# run NAME PROGRAM WORDS...: in the background, to be killed at the end.
run()
{
	start "$@"
	started="$started $pid"
}

# refused NAME CODE PATTERN COMMAND...: its exit code, and one line that says why.
refused()
{
	name=$1 code=$2 pattern=$3
	shift 3
	"$@" >"$scratch/out" 2>"$scratch/err"
	is "$name: exit code" "$code" $?
	is "$name: one line" 1 "$(wc -l <"$scratch/err" | tr -d ' ')"
	grep -q -- "$pattern" "$scratch/err" && ok "$name: says why" || not_ok "$name: says why" "$scratch/err"
}

hellos()
{
	[ "$(grep -c 'event=hello ' "$scratch/b")" -ge "$1" ]
}

# ---- words

tcp=tcp://127.0.0.1:9
for program in worker merger broker; do
	case $program in
	broker) set -- --listen $tcp --root / ;;
	merger) set -- --broker $tcp --state "$scratch/none" ;;
	*) set -- --broker $tcp ;;
	esac
	refused "rundown-$program over tcp without a word" 2 'tcp needs --keys DIR' "$bin/rundown-$program" "$@"
	refused "rundown-$program with two words" 2 'which?' "$bin/rundown-$program" "$@" --keys "$keys" --plain-tcp
	refused "rundown-$program without its keys" 1 'there is no key here' "$bin/rundown-$program" "$@" --keys "$scratch/none"
done
refused "a client over tcp without a word" 2 'tcp needs --keys DIR' "$bin/rundown" status --broker $tcp

# ---- keys

"$bin/rundown" keys "$keys" >"$scratch/out" 2>"$scratch/err"
is "rundown keys: exit code" 0 $?
is "rundown keys: four lines" 4 "$(wc -l <"$scratch/out" | tr -d ' ')"
refused "rundown keys, again" 1 'there is a key already' "$bin/rundown" keys "$keys"
is "rundown keys --add: the folder" "$keys/worker-node7" "$("$bin/rundown" keys "$keys" --add worker node7)"
refused "rundown keys --add, again" 1 'there is a key of this name already' "$bin/rundown" keys "$keys" --add worker node7
refused "rundown keys --add, a bad name" 2 'letters, digits' "$bin/rundown" keys "$keys" --add worker ../x
is "rundown keys --list" "worker worker
worker worker-node7
merger merger
client client" "$("$bin/rundown" keys "$keys" --list | cut -f1,2 | tr '\t' ' ')"
is "secrets are private" "" "$(find "$keys" -name '*.secret' ! -perm 600)"
"$bin/rundown" keys "$scratch/other" >/dev/null

# ---- a job

mkdir "$scratch/elsewhere"
# A port that nobody has.
tries=0
while :; do
	tcp=tcp://127.0.0.1:$((20000 + ($$ * 7 + tries * 131) % 12000))
	run b rundown-broker --listen $tcp --keys "$keys" --root "$work:$scratch/elsewhere" --log debug
	broker=$pid
	until_ok eval "line event=listening $scratch/b || gone $broker"
	! gone $broker && break
	tries=$((tries + 1))
	[ $tries -lt 20 ] || break
done
run w rundown-worker --broker $tcp --keys "$keys/worker" --root "$work:$scratch/elsewhere"
worker=$pid
run w7 rundown-worker --broker $tcp --keys "$keys/worker-node7" --root "$work:$scratch/elsewhere"
worker7=$pid
run m rundown-merger --broker $tcp --keys "$keys/merger" --state "$scratch/state" --root "$work"
merger=$pid
until_ok hellos 3
is "two workers and a merger are let in" 0 $?

cp tests/traces/shop-small.nettrace.zst "$work/"
"$bin/rundown" run -q "$work/shop-small.nettrace.zst" -o "$work/alone.rundown"
RUNDOWN_KEYS=$keys/client "$bin/rundown" submit --wait -q --shards 5 --broker $tcp "$work/shop-small.nettrace.zst" \
	-o "$work/far.rundown" >"$scratch/out" 2>"$scratch/err"
is "a job over tcp with keys: exit code" 0 $?
check_empty "a job over tcp with keys: nothing to complain of" "$scratch/err"
is "a job over tcp with keys: the digest of a run" "$("$bin/rundown" report --digest "$work/alone.rundown")" \
	"$("$bin/rundown" report --digest "$work/far.rundown")"

# ---- roots

mkdir "$scratch/private"
cp tests/traces/shop-small.nettrace.zst "$scratch/private/"
ln -s ../private/shop-small.nettrace.zst "$work/link.nettrace.zst"
refused "a trace outside of the roots" 1 'the broker takes no jobs of this folder' "$bin/rundown" submit --wait -q \
	--broker $tcp --keys "$keys/client" "$scratch/private/shop-small.nettrace.zst" -o "$work/private.rundown"
refused "a link that leads out of the roots" 1 'outside of what may be read' "$bin/rundown" submit --wait -q \
	--broker $tcp --keys "$keys/client" "$work/link.nettrace.zst" -o "$work/private.rundown"
refused "a result outside of the merger's roots" 1 'outside of where results may be written' "$bin/rundown" submit \
	--wait -q --broker $tcp --keys "$keys/client" "$work/shop-small.nettrace.zst" -o "$scratch/elsewhere/r.rundown"
is "nothing is there" "" "$(ls -A "$scratch/elsewhere")"

# ---- strangers

refused "a stranger's key" 1 'does not let this key in' "$bin/rundown" status --broker $tcp --keys "$scratch/other/client" \
	--server-key "$keys/server.public"
line 'event=key_refused address="127.0.0.1" .*why="it is not authorised"' "$scratch/b"
is "a stranger's key is told" 0 $?
refused "another broker's key" 1 "another server's key" "$bin/rundown" status --broker $tcp --keys "$scratch/other/client" --patience 500ms
refused "no key" 1 "may want keys" "$bin/rundown" status --broker $tcp --plain-tcp --patience 500ms
cp "$keys/client/client.secret" "$scratch/open.secret"
mkdir "$scratch/open"
cp "$keys/client/"* "$scratch/open/" && chmod 604 "$scratch/open/client.secret"
refused "a secret that others may read" 2 'others may read this secret' "$bin/rundown" status --broker $tcp --keys "$scratch/open"

# A client's key in a worker's hand.
mkdir "$scratch/wrong"
cp "$keys/client/server.public" "$scratch/wrong/"
cp -p "$keys/client/client.secret" "$scratch/wrong/worker.secret"
refused "a key of another role" 1 "the key client is a client's, and cannot be a worker's" \
	"$bin/rundown-worker" --broker $tcp --keys "$scratch/wrong"
line "event=refused .*the key client is a client's" "$scratch/b"
is "a key of another role is told" 0 $?

# ---- floods before anybody has proved anything

rss()
{
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$broker/status"
}
if command -v bash >/dev/null; then
	before=$(rss)
	port=${tcp##*:}
	for i in 1 2 3 4 5 6 7 8; do
		# A greeting of ZMTP with CURVE, then a command that says it has a terabyte, and some of it.
		bash -c '
			exec 3<>"/dev/tcp/127.0.0.1/$1" || exit 0
			{ printf "\377\0\0\0\0\0\0\0\1\177\3\0CURVE"; head -c 47 /dev/zero
			  printf "\6\0\0\1\0\0\0\0\0"; head -c 8000000 /dev/zero; } >&3' flood "$port" 2>/dev/null
	done
	after=$(rss)
	[ $((after - before)) -lt 16384 ] && ok "a flood of long frames takes less than 16 MB" ||
		not_ok "a flood of long frames takes less than 16 MB: $before kB before, $after kB after"
	"$bin/rundown" status --broker $tcp --keys "$keys/client" >"$scratch/out" 2>"$scratch/err"
	is "after a flood the broker answers" 0 $?
else
	skip "a flood of long frames takes less than 16 MB" "no bash"
fi

# A door of 64 descriptors: what is beyond them is shut out and told, and whoever comes behind the flood is served.
processor_ticks()
{
	cut -d ' ' -f 14,15 "/proc/$1/stat" | tr ' ' '+' | sed 's/.*/echo $((&))/' | sh
}
if command -v bash >/dev/null; then
	(
		ulimit -n 64
		exec "$bin/rundown-broker" --listen "tcp://127.0.0.1:$((port + 1))" --plain-tcp --root "$work" \
			--state "$scratch/few" --log info 2>"$scratch/few.err"
	) &
	few=$!
	until_ok line event=listening "$scratch/few.err" 2>/dev/null
	bash -c 'for i in {1..100}; do exec {fd}<>"/dev/tcp/127.0.0.1/$1"; done; sleep 1' flood $((port + 1)) 2>/dev/null
	until_ok line event=peers_shut_out "$scratch/few.err"
	is "a flood of connections is told" 0 $?
	[ "$(processor_ticks $few)" -lt 50 ] && ok "and costs no time" || not_ok "and costs no time: $(processor_ticks $few) ticks"
	timeout 10 "$bin/rundown" status --broker "tcp://127.0.0.1:$((port + 1))" --plain-tcp >"$scratch/out" 2>&1
	is "and the broker answers behind it" 0 $?
	kill -TERM $few
	ended "and ends tidily" 0 $few
fi

# ---- revocation

mv "$keys/authorised/worker-node7.public" "$scratch/revoked"
until_ok line 'event=key_refused why="the broker does not let this key in"' "$scratch/w7"
is "a revoked key is shut out without a restart" 0 $?
line 'event=keys_changed authorised=3 shown_out=1' "$scratch/b"
is "whom the broker showed out" 0 $?
gone $worker7
is "who is shut out goes on trying" 1 $?
before=$(grep -c 'event=hello ' "$scratch/b")
mv "$scratch/revoked" "$keys/authorised/worker-node7.public"
until_ok hellos $((before + 1))
is "a key that is authorised again is let in" 0 $?
"$bin/rundown" submit --wait -q --broker $tcp --keys "$keys/client" "$work/shop-small.nettrace.zst" \
	-o "$work/again.rundown" >"$scratch/out" 2>"$scratch/err"
is "the others go on" 0 $?

rm "$keys/authorised/client.public"
sleep 1
refused "a revoked client" 1 'does not let this key in' "$bin/rundown" status --broker $tcp --keys "$keys/client"

kill -TERM $worker $worker7 $merger $broker
ended "SIGTERM: the broker" 0 $broker

# ---- plain tcp, by the user's word

run b rundown-broker --listen $tcp --plain-tcp --root "$work" --log warn
until_ok line 'event=plain_tcp' "$scratch/b"
is "a broker over plain tcp warns" 0 $?
"$bin/rundown" status --broker $tcp --plain-tcp >"$scratch/out" 2>"$scratch/err"
is "a client over plain tcp: exit code" 0 $?
check_empty "a client over plain tcp: nothing on stderr" "$scratch/err"
refused "keys at a broker that has none" 1 "another server's key" "$bin/rundown" status --broker $tcp --keys "$scratch/other/client" --patience 500ms
plan
