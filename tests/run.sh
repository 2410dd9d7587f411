#!/bin/sh
# run.sh PROGRAM... - run tests, a line each, and end with "N passed, N failed, N skipped".
#
# A PROGRAM is a unit test or an e2e script, which speak TAP; a fuzz body, which replays its corpus and
# speaks TAP too; or the word check-..., a make target that counts as one case. All run in the root of
# the repository. A program that dies, hangs, ends early or has no case counts as one failure more.
#
# RD_BIN      folder of the programs, for e2e       RD_BUILD  folder of the flavour
# V=1         show all output                       RD_TIMEOUT seconds for a program (600)

export RD_ROOT="${RD_ROOT:-.}" RD_BIN="${RD_BIN:-build/bin}" RD_BUILD="${RD_BUILD:-build/release}"
export CMOCKA_MESSAGE_OUTPUT=TAP
# cmocka would otherwise take the signals that the sanitizers report.
export ASAN_OPTIONS="${ASAN_OPTIONS:-handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_abort=2:allocator_may_return_null=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

passed=0
failed=0
skipped=0
log=$(mktemp "${TMPDIR:-/tmp}/rundown-check-XXXXXX") || exit 1
trap 'rm -f "$log"' EXIT
trap '[ -z "$child" ] || kill "$child"; exit 130' INT TERM
child=

# Run one program, with an end to its time. timeout(1) takes what it started along.
run_one()
{
	case $1 in
	check-*) set -- "${MAKE:-make}" --no-print-directory -s "$1" ;;
	*/fuzz_*) set -- "$1" "tests/fuzz/corpus/${1##*/fuzz_}" ;;
	*.py) set -- python3 "$1" ;;
	*.sh) set -- sh "$1" ;;
	esac
	# What a shell puts in the background ignores these, and so would all that it starts.
	env --default-signal=INT,QUIT timeout -k 5 "${RD_TIMEOUT:-600}" "$@" </dev/null >"$log" 2>&1 &
	child=$!
	wait $child
	status=$?
	child=
}

# Say in one word per line what the log holds: passed, failed, skipped, planned (-1 without a plan, 1..N).
count_tap()
{
	awk '
	/^[ \t]*not ok .*# *[Ss][Kk][Ii][Pp]/ || /^[ \t]*ok .*# *[Ss][Kk][Ii][Pp]/ { skipped++; next }
	/^[ \t]*not ok/ { failed++; next }
	/^[ \t]*ok/ { passed++; next }
	/^[ \t]*1\.\.[0-9]+/ { sub(/^[ \t]*1\.\./, ""); planned += $1; plan = 1 }
	END { print passed + 0, failed + 0, skipped + 0, plan ? planned : -1 }' "$log"
}

for program; do
	name=${program#"$RD_BUILD"/}
	started=$(date +%s%N)
	case $program in
	*.py) command -v python3 >/dev/null || {
		echo "  skip  $name (no python3)"
		skipped=$((skipped + 1))
		continue
	} ;;
	esac
	run_one "$program"

	case $program in
	check-*)
		p=$((status == 0)) f=$((status != 0)) s=0 note=
		;;
	*)
		read -r p f s planned <<-END
			$(count_tap)
		END
		note=
		if [ $((p + f + s)) -eq 0 ]; then
			note="no test ran"
		elif [ "$planned" -ne $((p + f + s)) ]; then
			note="ended early"
		elif [ $status -ne 0 ] && [ "$f" -eq 0 ]; then
			note="failed at its end"
		fi
		if [ -n "$note" ]; then
			f=$((f + 1))
			# timeout's own codes for one that hung.
			case $status in
			0) ;;
			124 | 137) note="$note, timed out or killed" ;;
			*) note="$note, exit code $status" ;;
			esac
		fi
		;;
	esac
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))

	word=ok
	[ $f -eq 0 ] || word=FAIL
	printf '  %-5s %-44s %4d passed' $word "$name" "$p"
	[ $f -eq 0 ] || printf ', %d failed' "$f"
	[ $s -eq 0 ] || printf ', %d skipped' "$s"
	[ -z "$note" ] || printf ' (%s)' "$note"
	printf ' %6d ms\n' $((($(date +%s%N) - started) / 1000000))
	if [ -n "$V" ]; then
		sed 's/^/        /' "$log"
	elif [ $f -ne 0 ]; then
		# What passed is of no interest then.
		grep -vE '^[[:space:]]*ok ' "$log" | sed 's/^/        /'
	elif [ $s -ne 0 ]; then
		# Why: our own lines for cmocka, the TAP directive for scripts.
		sed -n -e 's/^# skip: //p' -e 's/^ok.*# *skip *//p' "$log" |
			awk '{ n[$0]++ } END { for (why in n) print "        skipped: " why (n[why] > 1 ? " (" n[why] " times)" : "") }' |
			sort
	fi
done

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
