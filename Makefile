# rundown's build. `make help` tells what it does.
#
# A room is a top-level folder. Each becomes one static library from all its .c files, so a new
# file needs no line here. Whatever changes the compilation has a folder of its own, build/FLAVOUR/.

ROOMS := base proto trace profile store net capture symbols broker worker merger report cli

# What a room stands on, in link order. The system libraries come with the room that calls them.
NEEDS_base :=
NEEDS_proto := base
NEEDS_trace := base
NEEDS_profile := trace proto base
NEEDS_store := profile trace proto base
NEEDS_net := proto base
NEEDS_capture := base
NEEDS_symbols := base
NEEDS_report := store profile trace proto base
NEEDS_broker := net store profile trace proto base
NEEDS_worker := net profile trace proto base
NEEDS_merger := net store profile trace proto base
NEEDS_cli := broker worker merger report capture symbols net store profile trace proto base

SYSLIBS_base := -lxxhash
SYSLIBS_proto := -lprotobuf-c
SYSLIBS_trace := -larchive -lzstd -lz -llzma -lbz2
SYSLIBS_profile := -lzstd
SYSLIBS_store := -llmdb
SYSLIBS_net := -lzmq
SYSLIBS_report := -lz -lsqlite3 -lm
SYSLIBS_broker := -llmdb
SYSLIBS_merger := -llmdb

# A program is its room's main.c, which the room's library leaves out. The daemons read their options with cli's table.
PROGRAMS := rundown rundown-broker rundown-worker rundown-merger
MAIN_rundown := cli
MAIN_rundown-broker := broker
MAIN_rundown-worker := worker
MAIN_rundown-merger := merger

PACKAGES := gcc libc6-dev make libzmq3-dev libprotobuf-c-dev protobuf-c-compiler liblmdb-dev libcmocka-dev \
	libarchive-dev libzstd-dev zlib1g-dev liblzma-dev libbz2-dev libxxhash-dev libsqlite3-dev libfwnt1 libmicrohttpd-dev zstd jq zip unzip xz-utils bzip2 \
	valgrind

ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PROTOC ?= protoc-c
CLANG_FORMAT ?= clang-format
PREFIX ?= /usr/local
BUILD ?= build
WERROR ?= -Werror

# ---- the flavour and its flags

comma := ,
FLAVOUR := release
OPTIMISE := -O2 -g
HARDEN := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
ifneq ($(DEBUG),)
FLAVOUR := debug
OPTIMISE := -O0 -g3
HARDEN := -fstack-protector-strong
endif
ifneq ($(SAN),)
FLAVOUR := san-$(subst $(comma),-,$(SAN))
OPTIMISE := -O1 -g -fno-omit-frame-pointer -fsanitize=$(SAN) -fno-sanitize-recover=undefined
HARDEN :=
endif
ifneq ($(COVERAGE),)
FLAVOUR := coverage
OPTIMISE := -O0 -g --coverage
HARDEN :=
endif
ifneq ($(notdir $(firstword $(CC))),gcc)
FLAVOUR := $(notdir $(firstword $(CC)))-$(FLAVOUR)
endif

B := $(BUILD)/$(FLAVOUR)
BIN := $(if $(filter release,$(FLAVOUR)),$(BUILD)/bin,$(B)/bin)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 $(WERROR)
ALL_CPPFLAGS := -D_GNU_SOURCE -I. -I$(B)/proto $(CPPFLAGS)
ALL_CFLAGS := -std=c11 $(OPTIMISE) $(HARDEN) -fPIE $(WARN) $(CFLAGS)
TEST_CFLAGS := -Wno-unused-parameter -Wno-missing-prototypes
ALL_LDFLAGS := $(OPTIMISE) -pie -Wl,-z,relro,-z,now -Wl,--as-needed -pthread $(LDFLAGS)

# ---- the files

C_FILES := $(shell find $(ROOMS) tests -name '*.c' 2>/dev/null | sort)
H_FILES := $(shell find $(ROOMS) tests -name '*.h' 2>/dev/null | sort)
PROTO_FILES := $(wildcard proto/*.proto)
PROTO_C := $(PROTO_FILES:%.proto=$(B)/proto/%.pb-c.c)
PROTO_H := $(PROTO_C:.c=.h)

room_c = $(filter-out %/main.c,$(filter $1/%,$(C_FILES)))
room_o = $(patsubst %.c,$(B)/obj/%.o,$(room_c)) $(if $(filter proto,$1),$(PROTO_C:.c=.o))
room_a = $(1:%=$(B)/lib/librd_%.a)
room_stack = $1 $(NEEDS_$1)
room_syslibs = $(foreach r,$1,$(SYSLIBS_$r))

UNIT_C := $(foreach c,$(C_FILES),$(if $(filter test_%,$(notdir $c)),$(filter tests/%,$c)))
FUZZ_C := $(filter tests/fuzz/fuzz_%,$(C_FILES))
TOOL_C := $(filter tests/gen/gen_% tests/bench/% tests/faults/%,$(C_FILES))
# Every other file below tests/ helps the tests: one library for each folder, tests/*.c being one as well.
# Preloaded by a test into the programs: each file is a shared object.
PRELOAD_C := $(filter tests/preload/%,$(C_FILES))
HELP_C := $(filter-out $(UNIT_C) $(FUZZ_C) $(TOOL_C) $(PRELOAD_C) tests/fuzz/%,$(filter tests/%,$(C_FILES)))
help_folder = $(patsubst %.c,all,$(word 2,$(subst /, ,$1)))
HELP_FOLDERS := $(sort all $(foreach c,$(HELP_C),$(call help_folder,$c)))
help_c = $(foreach c,$(HELP_C),$(if $(filter $1,$(call help_folder,$c)),$c))
# For a stack of rooms: what all share, what writes traces, and the helpers of those rooms.
help_a = $(patsubst %,$(B)/lib/librd_tests_%.a,$(filter all gen $1,$(HELP_FOLDERS)))

UNITS := $(UNIT_C:%.c=$(B)/%)
FUZZERS := $(FUZZ_C:%.c=$(B)/%)
TOOLS := $(TOOL_C:%.c=$(B)/%)
PRELOADS := $(PRELOAD_C:%.c=$(B)/%.so)
FAULTS := $(filter-out %/lib.sh,$(sort $(wildcard tests/faults/*.sh)))
E2E := $(filter-out %/lib.sh,$(sort $(wildcard tests/e2e/*.sh tests/e2e/*.py)))
BINARIES := $(foreach p,$(PROGRAMS),$(if $(wildcard $(MAIN_$p)/main.c),$(BIN)/$p))
MAN := $(wildcard docs/man/*.1)
DOCS := $(wildcard README.md LICENSE docs/*.md docs/*.png docs/*.svg)
FORMAT_DOCS := $(wildcard docs/formats/*.md)

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

.PHONY: all
all: $(BINARIES)

# ---- remember flags and file lists, so that a change of either builds anew

# $(call remember,FILE,TEXT): write FILE unless it says TEXT already.
define remember
ifneq ($$(strip $$(file <$1)),$$(strip : $2))
$$(shell mkdir -p $(dir $1))
$$(file >$1,: $2)
endif
endef

$(eval $(call remember,$(B)/flags,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(TEST_CFLAGS) $(ALL_LDFLAGS)))
$(foreach r,$(ROOMS),$(eval $(call remember,$(B)/lib/$r.list,$(call room_c,$r) $(if $(filter proto,$r),$(PROTO_FILES)))))
$(foreach f,$(HELP_FOLDERS),$(eval $(call remember,$(B)/lib/tests_$f.list,$(call help_c,$f))))

# ---- compile, archive, link: always into a name of its own and then renamed, so that a stopped or a
# second make never leaves or sees half a file

quiet = @printf '  %-5s %s\n' $1 $@;
define compile
$(call quiet,cc) mkdir -p $(@D); \
$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $1 -MMD -MP -MT $@ -MF $@.$$$$.d -c -o $@.$$$$ $< && \
mv -f $@.$$$$.d $(@:.o=.d) && mv -f $@.$$$$ $@ || { rm -f $@.$$$$ $@.$$$$.d; exit 1; }
endef
define archive
$(call quiet,ar) mkdir -p $(@D); $(AR) rcsD $@.$$$$ $(filter %.o,$^) && mv -f $@.$$$$ $@
endef
# The libraries call each other only downwards, but the daemons and cli share the option table: hence the group.
define link
$(call quiet,ld) mkdir -p $(@D); \
$(CC) -o $@.$$$$ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(ALL_LDFLAGS) $1 && \
mv -f $@.$$$$ $@ || { rm -f $@.$$$$; exit 1; }
endef

$(B)/obj/tests/%.o: tests/%.c $(B)/flags
	$(call compile,$(TEST_CFLAGS))
$(B)/obj/%.o: %.c $(B)/flags
	$(call compile)

# What .incbin reads is in no list of headers.
$(B)/obj/report/page.o: report/page.html

# protoc's code is not ours to keep free of warnings.
$(B)/proto/%.pb-c.o: $(B)/proto/%.pb-c.c $(B)/flags
	$(call compile,-w)
$(B)/proto/%.pb-c.c $(B)/proto/%.pb-c.h &: %.proto
	@printf '  %-5s %s\n' proto $<; mkdir -p $(B)/proto/$(*D) $(B)/proto/tmp.$$$$; \
	$(PROTOC) --c_out=$(B)/proto/tmp.$$$$ $< && \
	mv -f $(B)/proto/tmp.$$$$/$*.pb-c.h $(B)/proto/$*.pb-c.h && \
	mv -f $(B)/proto/tmp.$$$$/$*.pb-c.c $(B)/proto/$*.pb-c.c && touch $(B)/proto/$*.pb-c.h; \
	status=$$?; rm -rf $(B)/proto/tmp.$$$$; exit $$status
$(filter-out $(B)/obj/base/% $(B)/obj/trace/% $(B)/obj/tests/base/%,$(C_FILES:%.c=$(B)/obj/%.o)): | $(PROTO_H)
$(PROTO_C:.c=.o): | $(PROTO_H)

define room_rules
$$(B)/lib/librd_$1.a: $$(call room_o,$1) $$(B)/lib/$1.list
	$$(archive)
.PHONY: lib-$1 check-$1
lib-$1: $$(call room_a,$$(call room_stack,$1))
check-$1: deps $$(filter $$(B)/tests/$1/%,$$(UNITS))
	@$$(RUN_TESTS) $$(filter %,$$(filter $$(B)/tests/$1/%,$$(UNITS)))
endef
$(foreach r,$(ROOMS),$(eval $(call room_rules,$r)))

define help_rule
$$(B)/lib/librd_tests_$1.a: $$(patsubst %.c,$$(B)/obj/%.o,$$(call help_c,$1)) $$(B)/lib/tests_$1.list
	$$(archive)
endef
$(foreach f,$(HELP_FOLDERS),$(eval $(call help_rule,$f)))

define program_rule
$$(BIN)/$1: $$(B)/obj/$$(MAIN_$1)/main.o $$(call room_a,$$(sort $$(call room_stack,$$(MAIN_$1)) cli))
	$$(call link,$$(call room_syslibs,$$(call room_stack,$$(MAIN_$1))))
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$p)))

# A unit test sees its own room and those below; one in a folder that is no room sees all.
define unit_rule
$$(B)/$(1:.c=): $$(B)/obj/$(1:.c=.o) $$(call help_a,$2 $(call unit_room,$1)) $$(call room_a,$2)
	$$(call link,-lcmocka $$(call room_syslibs,$2))
endef
unit_room = $(word 2,$(subst /, ,$1))
unit_stack = $(if $(filter $(unit_room),$(ROOMS)),$(call room_stack,$(unit_room)),$(call room_stack,cli))
$(foreach c,$(UNIT_C) $(TOOL_C),$(eval $(call unit_rule,$c,$(call unit_stack,$c))))

FUZZ_ROOMS := $(NEEDS_cli)
FUZZ_DRIVER := $(if $(findstring fuzzer,$(SAN)),libfuzzer,replay)
$(FUZZERS): $(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/$(FUZZ_DRIVER).o \
		$(call help_a,$(FUZZ_ROOMS)) $(call room_a,$(FUZZ_ROOMS))
	$(call link,$(if $(findstring fuzzer,$(SAN)),-fsanitize=fuzzer) -lcmocka $(call room_syslibs,$(FUZZ_ROOMS)))

# Without the sanitizers, whose own libraries must come first in a program.
$(PRELOADS): $(B)/tests/preload/%.so: tests/preload/%.c $(B)/flags
	$(call quiet,cc) mkdir -p $(@D); $(CC) -std=c11 -D_GNU_SOURCE -O1 -g $(WARN) -Wno-missing-prototypes \
	-fPIC -shared -o $@.$$$$ $< && mv -f $@.$$$$ $@ || { rm -f $@.$$$$; exit 1; }

-include $(shell find $(B)/obj $(B)/proto -name '*.d' 2>/dev/null)

# ---- checks

RUN_TESTS := RD_ROOT=. RD_BIN=$(BIN) RD_BUILD=$(B) MAKE="$(MAKE)" sh tests/run.sh

.PHONY: coverage coverage-report tests check check-all check-layers check-headers check-units check-fuzz check-units-fuzz check-e2e check-damage check-large
tests: $(UNITS) $(FUZZERS) $(TOOLS) $(PRELOADS)
# Two steps, because what `deps` installs is needed before anything is compiled.
check: deps
	@+$(MAKE) --no-print-directory check-all
check-all: all tests
	@+$(RUN_TESTS) check-layers check-headers $(UNITS) $(FUZZERS) $(E2E) $(FAULTS)
check-units: $(UNITS)
	@$(RUN_TESTS) $(UNITS)
check-fuzz: $(FUZZERS)
	@$(RUN_TESTS) $(FUZZERS)
check-units-fuzz: $(UNITS) $(FUZZERS)
	@$(RUN_TESTS) $(UNITS) $(FUZZERS)
check-e2e: all tests
	@$(RUN_TESTS) $(E2E)

# Every trace of the shared folder cut and changed at thousands of places: minutes. RD_DAMAGE_PART=K/N shares it out.
DAMAGE_TEST := $(B)/tests/profile/test_damage
check-damage: $(DAMAGE_TEST)
	@V=1 RD_TIMEOUT=7200 RD_DAMAGE=full $(RUN_TESTS) $<

# Gigabytes that must be read, a million stacks, 25 million samples.
check-large: all tests
	@V=1 RD_LARGE=full $(RUN_TESTS) tests/e2e/large.sh tests/e2e/streams.sh

# Every fault of docs/reliability.md, as often and as long as it says: a quarter of an hour. RD_SEED=N repeats one.
.PHONY: check-faults
check-faults: all tests
	@V=1 RD_FAULTS=full RD_SEEDS=1000 RD_TIMEOUT=3600 $(RUN_TESTS) $(B)/tests/broker/test_storm $(B)/tests/simulation/test_simulation $(FAULTS)

# Made-up traces, cut, delivered and finished at random (docs/generator.md).
.PHONY: check-properties
check-properties: $(B)/tests/properties/test_properties
	RD_SEEDS=$(SEEDS) RD_SEED=$(SEED) $<

# Nights of broker, merger and workers in one process (tests/simulation/world.h).
.PHONY: check-simulation
check-simulation: $(B)/tests/simulation/test_simulation
	RD_SEEDS=$(SEEDS) RD_SEED=$(SEED) $<

# What each step of a job costs: make bench-steps TRACES="..." BENCH_OPTIONS=--preliminary
TRACES ?=
BENCH_OPTIONS ?=
.PHONY: bench-steps
bench-steps: $(B)/tests/bench/bench_steps
	$< $(BENCH_OPTIONS) $(TRACES)

# What tests/e2e/instructions.sh holds decoding and finishing against.
.PHONY: renew-instructions
renew-instructions: $(B)/tests/bench/bench_steps $(B)/tests/gen/gen_trace
	@RD_RENEW=1 RD_ROOT=. RD_BIN=$(BIN) RD_BUILD=$(B) sh tests/e2e/instructions.sh
	@cat tests/bench/instructions

# Whole runs beside what a user would otherwise run (docs/performance.md).
BENCH_TOOLS := $(B)/tests/bench/measure $(B)/tests/gen/gen_trace $(B)/tests/gen/gen_large
.PHONY: bench bench-quick bench-growth
bench-growth: all $(BENCH_TOOLS)
	@RD_ROOT=. RD_BIN=$(BIN) RD_BUILD=$(B) sh tests/bench/growth.sh
bench bench-quick: all $(BENCH_TOOLS)
	@RD_ROOT=. RD_BIN=$(BIN) RD_BUILD=$(B) RD_BENCH=$(if $(filter bench,$@),full,quick) sh tests/bench/bench.sh

# How many workers one broker and one merger keep busy (docs/scale.md).
$(B)/tests/bench/scale_worker: ALL_LDFLAGS += -Wl,--wrap=rd_shard_decode
.PHONY: bench-scale
bench-scale: all $(B)/tests/bench/scale_worker $(B)/tests/gen/gen_trace
	@RD_ROOT=. bin=$(BIN) RD_BUILD=$(B) sh tests/bench/scale.sh

# The page of `report --format html`, from page/ (needs node and npm; `npm ci` where its packages are missing).
.PHONY: page
page:
	[ -d page/node_modules ] || (cd page && npm ci --no-audit --no-fund)
	node page/build.mjs report/page.html

coverage:
	@+$(MAKE) --no-print-directory COVERAGE=1 coverage-report
coverage-report: check-units
	@sh mk/coverage.sh $(B)/obj $(ROOMS)

check-layers:
	@sh mk/layers.sh

HEADER_OKS := $(H_FILES:%=$(B)/headers/%.ok)
check-headers: $(HEADER_OKS)
$(B)/headers/%.ok: % $(B)/flags | $(PROTO_H)
	@mkdir -p $(@D); echo '#include "$<"' | \
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MT $@ -MF $@.d -fsyntax-only -x c - && touch $@
-include $(shell find $(B)/headers -name '*.d' 2>/dev/null)

# libFuzzer on one body: make fuzz-NAME FUZZ_SECONDS=600
FUZZ_SECONDS ?= 60
.PHONY: $(FUZZ_C:tests/fuzz/fuzz_%.c=fuzz-%)
$(FUZZ_C:tests/fuzz/fuzz_%.c=fuzz-%): fuzz-%:
	@+$(MAKE) --no-print-directory CC=clang SAN=fuzzer-no-link,address,undefined \
		$(BUILD)/clang-san-fuzzer-no-link-address-undefined/tests/fuzz/fuzz_$*
	@mkdir -p tests/fuzz/corpus/$* $(BUILD)/fuzz/$*
	$(BUILD)/clang-san-fuzzer-no-link-address-undefined/tests/fuzz/fuzz_$* -max_total_time=$(FUZZ_SECONDS) \
		-rss_limit_mb=1024 -timeout=10 -artifact_prefix=$(BUILD)/fuzz/$*/ $(BUILD)/fuzz/$* tests/fuzz/corpus/$*

# ---- for people

.PHONY: deb demo deps install install-deploy uninstall format clean help
DEMO_TRACE ?= tests/traces/shop-small.nettrace.zst
demo: deps
	@+$(MAKE) --no-print-directory all
	@rm -rf $(BUILD)/demo && mkdir -p $(BUILD)/demo
	$(BIN)/rundown run $(DEMO_TRACE) -o $(BUILD)/demo/result.rundown -q
	$(BIN)/rundown report $(BUILD)/demo/result.rundown --top 12

deps:
	@sh mk/deps.sh $(PACKAGES)

# rundown-record.exe, which records on Windows (deploy/windows): its own sources and what they use of the rooms.
MINGW_CC ?= x86_64-w64-mingw32-gcc
WINDOWS_C := $(wildcard deploy/windows/*.c) capture/state.c base/error.c base/memory.c base/text.c base/cursor.c
.PHONY: windows
windows:
	@command -v $(MINGW_CC) >/dev/null || { echo "no $(MINGW_CC): apt-get install gcc-mingw-w64-x86-64"; exit 0; }; \
	mkdir -p $(BUILD)/windows && $(MINGW_CC) -std=gnu11 -O2 -Wall -Wextra $(WERROR) -D_WIN32_WINNT=0x0A00 \
	-D__USE_MINGW_ANSI_STDIO=1 -Wno-format -Wno-format-extra-args -I. -include deploy/windows/posix.h -static -pthread -o $(BUILD)/windows/rundown-record.exe $(WINDOWS_C) -ladvapi32

# Apart from the programs: a test and a package install it by itself.
UNITS_SYSTEMD := $(wildcard deploy/systemd/*.service deploy/systemd/*.timer)
install-deploy:
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/lib/sysusers.d $(DESTDIR)$(PREFIX)/share/rundown
	for f in $(UNITS_SYSTEMD); do \
		sed 's,@BIN@,$(PREFIX)/bin,g' $$f >$(DESTDIR)$(PREFIX)/lib/systemd/system/$${f##*/} && \
		chmod 644 $(DESTDIR)$(PREFIX)/lib/systemd/system/$${f##*/} || exit 1; done
	install -m 644 deploy/systemd/rundown.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/rundown.conf
	install -m 644 deploy/systemd/rundown.env $(DESTDIR)$(PREFIX)/share/rundown

install: all install-deploy
	install -d $(DESTDIR)$(PREFIX)/bin
	$(if $(BINARIES),install -m 755 $(BINARIES) $(DESTDIR)$(PREFIX)/bin)
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/doc/rundown/formats \
		$(DESTDIR)$(PREFIX)/share/doc/rundown/schema
	$(if $(MAN),install -m 644 $(MAN) $(DESTDIR)$(PREFIX)/share/man/man1)
	install -m 644 $(DOCS) $(DESTDIR)$(PREFIX)/share/doc/rundown
	$(if $(FORMAT_DOCS),install -m 644 $(FORMAT_DOCS) $(DESTDIR)$(PREFIX)/share/doc/rundown/formats)
	install -m 644 docs/schema/*.json $(DESTDIR)$(PREFIX)/share/doc/rundown/schema

# Debian packages; the last lines name them.
deb: deps
	@sh mk/deps.sh dpkg-dev binutils
	@rm -rf $(B)/deb
	@+$(MAKE) --no-print-directory install DESTDIR=$(abspath $(B))/deb/stage PREFIX=/usr >/dev/null
	@sh mk/deb.sh $(B)/deb/stage $(B)/deb

uninstall:
	rm -f $(PROGRAMS:%=$(DESTDIR)$(PREFIX)/bin/%) $(patsubst docs/man/%,$(DESTDIR)$(PREFIX)/share/man/man1/%,$(MAN))
	rm -f $(patsubst deploy/systemd/%,$(DESTDIR)$(PREFIX)/lib/systemd/system/%,$(UNITS_SYSTEMD)) \
		$(DESTDIR)$(PREFIX)/lib/sysusers.d/rundown.conf
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/rundown $(DESTDIR)$(PREFIX)/share/rundown

format:
	$(CLANG_FORMAT) -i $(C_FILES) $(H_FILES)

clean:
	rm -rf $(BUILD)

help:
	@sed 's/^#@ \{0,1\}//;t;d' $(firstword $(MAKEFILE_LIST))

#@ make                 the programs, into build/bin/
#@ make demo            a profile of a small real trace, from broker, workers and merger
#@ make check           all tests; the last line is "N passed, N failed, N skipped"
#@ make deps            install what building and testing need (Debian packages; demo and check do it by themselves)
#@ make deb             Debian packages of the programs and of the services
#@ make install         into PREFIX (/usr/local), below DESTDIR; `make uninstall` takes it away
#@
#@ For work on rundown:
#@ make lib-ROOM        one room and what it stands on; a room is a folder: base, trace, profile, ...
#@ make check-ROOM      that room's unit tests, tests/ROOM/**/test_*.c
#@ make check-units  check-fuzz  check-e2e  check-layers  check-headers
#@                      the parts of `make check`
#@ make check-damage    every shared trace cut and changed at thousands of places (ten minutes)
#@ make check-large     traces of many gigabytes, stacks and samples (a minute)
#@ make check-faults    kills, partitions, full disks, wrong clocks, poison (docs/reliability.md; a quarter of an hour, as root)
#@ make check-properties SEEDS=300
#@                      so many made-up traces, each sharded and delivered in several ways; SEED=N: that one alone
#@ make check-simulation SEEDS=2000
#@                      so many nights of the real broker, merger and workers in one process, with faults of all kinds
#@ make bench-steps TRACES="..." BENCH_OPTIONS=--preliminary
#@                      the processor's time from these plain traces to their partials, beside that of reading them
#@ make renew-instructions
#@                      keep what decoding and finishing cost now, in instructions; `make check` fails on 5 % more
#@ make bench           whole runs beside dotnet-trace (where it is) and xxhsum: 20 minutes, 15 GB of disk
#@ make bench-quick     the same with fewer and smaller traces: a minute
#@ make bench-growth    cost by the trace's size, by shards, by different stacks, with plots: five minutes
#@ make bench-scale     1 to 64 workers with tasks of a known length: where broker and merger bend (docs/scale.md)
#@ make fuzz-NAME       libFuzzer on tests/fuzz/fuzz_NAME.c (needs clang); FUZZ_SECONDS=60
#@ make coverage        the share of lines that the unit tests run, by room
#@ make page            report/page.html anew from page/ (needs node and npm; users need neither)
#@ make windows         build/windows/rundown-record.exe (needs mingw-w64; deploy/windows tells what it does)
#@ make format          clang-format over all C files
#@ make clean           remove build/
#@
#@ Switches, each with a folder of its own below build/:
#@   SAN=address,undefined   sanitizers        DEBUG=1      no optimisation
#@   COVERAGE=1              gcov              CC=clang     another compiler
#@   WERROR=                 warnings do not stop the build
#@   V=1                     tests show all their output
#@ Examples: make -j2 SAN=address,undefined check-units    make CC=clang lib-trace
