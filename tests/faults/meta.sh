# Would the tests see it? Five faults are put into a copy of the sources, one after the other, and what must fail, fails.
. "${RD_ROOT:-.}/tests/faults/lib.sh"

if [ "$full" != full ] || sanitized || [ "${RD_BUILD:-build/release}" != build/release ]; then
	skip "meta" "takes RD_FAULTS=full and the plain build"
	plan
	exit
fi
tree=$scratch/tree
mkdir "$tree" "$tree/build"
for part in Makefile mk docs .clang-format base proto trace profile symbols store net broker worker merger report capture cli tests; do
	[ ! -e $part ] || cp -a $part "$tree/"
done
cp -a build/release build/bin "$tree/build/"

# seeded NAME FILE SED WHAT...: the fault goes in, is built into WHAT, and each WHAT must fail.
seeded()
{
	name=$1 file=$2 change=$3
	shift 3
	cp -a "$tree/$file" "$scratch/sound"
	sed -i -z "$change" "$tree/$file"
	if cmp -s "$tree/$file" "$scratch/sound"; then
		not_ok "meta_$name: the fault found no place in $file"
		return
	fi
	for what; do
		case $what in
		*.sh) goal=all ;;
		*) goal=build/release/$what ;;
		esac
		if ! (cd "$tree" && make -s $goal >"$scratch/make" 2>&1); then
			not_ok "meta_$name: it does not build" "$scratch/make"
			continue
		fi
		case $what in
		*.sh) set -- env -u RD_FAULTS sh "$what" ;;
		*) set -- "build/release/$what" ;;
		esac
		(cd "$tree" && CMOCKA_MESSAGE_OUTPUT=TAP RD_ROOT=. RD_BIN=build/bin RD_BUILD=build/release timeout 120 "$@") >"$scratch/tap" 2>&1
		status=$?
		if [ $status -ne 0 ] || grep -q '^[[:space:]]*not ok' "$scratch/tap"; then
			ok "meta_$name: $what sees it"
			figure meta "$name: $(grep -m 1 '^[[:space:]]*not ok [0-9]' "$scratch/tap" | sed 's/^ *not ok [0-9]* - //' | cut -c 1-90) ($what)"
		else
			not_ok "meta_$name: $what does not see it"
		fi
	done
	cp "$scratch/sound" "$tree/$file"
	touch "$tree/$file"
}

seeded acknowledged_before_commit broker/broker.c \
	's/\t\tint rc = b->failed ? 0 : rd_keep_commit/\t\tsend_letters(b, send, ctx);\n&/' \
	tests/broker/test_storm tests/simulation/test_simulation
seeded merged_before_commit merger/merger.c 's/if (code < 0 \&\& !duplicate)/if (0)/' tests/merger/test_merger tests/simulation/test_simulation
seeded no_fencing broker/attempts.c 's/ \&\& a->number == e->attempt//' tests/broker/test_losses tests/simulation/test_simulation
seeded nosync_of_the_merger merger/work_env.c 's/folder, flags, 0600/folder, flags | MDB_NOSYNC, 0600/' tests/faults/disks.sh
seeded nosync_of_the_broker broker/journal.c 's/mdb_env_open(j->env, path, 0, 0600)/mdb_env_open(j->env, path, MDB_NOSYNC, 0600)/' tests/faults/disks.sh
seeded no_zap net/zap.c 's/found == NULL \&\& rd_zap_tests_open/found == NULL/' tests/net/test_security
seeded wall_clock base/clock.c 's/clock_gettime(CLOCK_MONOTONIC/clock_gettime(CLOCK_REALTIME/' tests/faults/clocks.sh
plan
