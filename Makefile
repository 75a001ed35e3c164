# hotcell: build/hotcell (command line), build/hotcelld (daemon), build/hotcell-shim (what runs inside a cell), libcell.a (what these
# share on the host), libhotcell (for programs of users: src/lib).
# make [CC=clang] [B=build/dir] [SAN=1] [WEAK=1] [TARGET]: "make help" lists the targets, with the text behind their "##".
CC      ?= gcc
# A directory of its own: else a later build without WEAK would take its objects up.
ifdef WEAK
B       ?= build/weak
$(if $(filter $(abspath build),$(abspath $(B))),$(error WEAK=1 needs a directory of its own, such as B=build/weak))
endif
B       ?= build
PREFIX  ?= /usr/local
VERSION := 0.1.0
# The system's interpreter, not whatever is first on PATH: the shim embeds the one that Debian's packages are for.
PYTHON  ?= /usr/bin/python3
# Other interpreters for which "make shims" builds a shim each, such as PYTHONS="/usr/bin/python3.12 /usr/bin/python3.13".
PYTHONS ?=
export PKG_CONFIG_PATH := /usr/lib/$(shell $(CC) -dumpmachine)/pkgconfig:/usr/lib/pkgconfig:/usr/share/pkgconfig

WARN   = -Wall -Wextra -Wshadow -Wconversion -Werror
HARDEN = -fstack-protector-strong -fstack-clash-protection -fcf-protection -D_FORTIFY_SOURCE=2 -fPIE
LINK   = -pie -Wl,-z,relro,-z,now -Wl,--as-needed -Wl,-z,noexecstack
OPT    = -O2 -g
ifdef SAN
HARDEN = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -fPIE
# Static, as no tree has the sanitizers' libraries; clang's always are.
LINK   = -fsanitize=address,undefined -pie -Wl,--as-needed $(if $(findstring clang,$(CC)),,-static-libasan -static-libubsan)
OPT    = -O1 -g
endif
ifdef WEAK
# For tests only: its cells can be told to do without a layer of isolation (src/inside/weak.h). Never install it.
EXTRA   += -DHC_WEAK
endif
CFLAGS  += -std=gnu17 $(OPT) $(WARN) $(HARDEN)
PY_ABI  := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
PYTHONDIR ?= $(PREFIX)/lib/python$(PY_ABI)/dist-packages
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
CPPFLAGS = -D_GNU_SOURCE -Isrc -I$(B)/gen -DHC_VERSION='"$(VERSION)"' -DHC_PYTHON_ABI='"$(PY_ABI)"' $(EXTRA)
LIBS       := $(shell pkg-config --libs libseccomp libcjson libsodium libpcre2-8)
LIBS_GROUND := $(shell pkg-config --libs libcjson libsodium libpcre2-8) -lm
LIBS_LIB   := $(shell pkg-config --libs libcjson libsodium) -lm
LIBS_DAEMON := $(shell pkg-config --libs sqlite3 libmicrohttpd zlib)
LIBS_TLS   := $(shell pkg-config --libs gnutls)
PY_CFLAGS  := $(shell $(PYTHON) -c 'import sysconfig as s; print("-isystem", s.get_path("include"), "-isystem", s.get_path("platinclude"))')
# libpython is linked in statically and not position-independent, as in Debian's own python3: it starts 2 ms faster, the shim
# reaches the parser's own tree, and a tree needs no libpython. ASLR of the shim's code would protect nobody: the process
# belongs to the guest.
PY_STATIC  := $(filter-out %-pic.a,$(wildcard $(shell $(PYTHON) -c 'import sysconfig as s; print(s.get_config_var("LIBPL"))')/libpython*.a))
PY_LIBS    := -lexpat -lz -lm
FREE_THREADED := $(shell $(PYTHON) -c 'import sysconfig as s; print(s.get_config_var("Py_GIL_DISABLED") or "")')
$(if $(filter 1,$(FREE_THREADED)),$(error $(PYTHON) is a free-threaded build of Python, which hotcell does not embed, as its guard relies on the global lock: name another one, such as PYTHON=/usr/bin/python3))

src  = $(filter-out %-test.c %-fuzz.c,$(wildcard src/$(1)/*.c))
# A folder and the rooms in it.
rooms = $(1) $(patsubst src/%/,%,$(wildcard src/$(1)/*/))
# What both sides of a cell's wall read and write, from the ground up.
GROUND = base json policy job manifest wire
objs = $(patsubst src/%.c,$(B)/obj/%.o,$(foreach d,$(1),$(call src,$(d))))
CELL_OBJS := $(call objs,$(call rooms,cell) inside $(GROUND))
BATCH_OBJS := $(call objs,batch)
CLI_OBJS  := $(call objs,cli mcp mcp/child client) $(BATCH_OBJS)
LEDGER_OBJS := $(call objs,daemon/ledger/print) $(addprefix $(B)/obj/client/,ask.o http.o job_result.o)
SHIM_OBJS := $(filter-out %/init_start.o,$(call objs,shim shim/guard shim/harness)) $(B)/obj/shim/cpython/deepfreeze.o
GROUND_OBJS := $(call objs,$(GROUND))
DAEMON_OBJS := $(filter-out %/main.o,$(call objs,$(call rooms,daemon) mcp))
TESTS     := $(patsubst src/%.c,$(B)/test/%,$(shell find src -name '*-test.c'))
FUZZERS   := $(patsubst src/%.c,$(B)/fuzz/%,$(shell find src -name '*-fuzz.c'))
# The program that "hotcell report" becomes: a folder that Python runs.
REPORT    := $(patsubst src/report/%,$(B)/hotcell-report/%,$(wildcard $(addprefix src/report/*.,py html css js))) $(B)/hotcell-report/build.json $(B)/hotcell-report/facts.py
# The program that "hotcell kernel" becomes; in the build it finds the Python package beside it.
KERNEL    := $(B)/hotcell-kernel/__main__.py
# libhotcell, whose first number is the version of its interface (the soname): it counts up when a program would have to be compiled anew.
LIB_ABI   := 0
LIB_FILE  := libhotcell.so.$(LIB_ABI).$(VERSION:0.%=%)
LIBDIR    ?= $(PREFIX)/lib
LIBRARY   := $(if $(SAN),,$(B)/$(LIB_FILE)) $(B)/libhotcell.a
COMPLETION := $(addprefix $(B)/completion/,bash zsh fish)
MAN       := $(patsubst src/man/%.in,$(B)/man/%,$(wildcard src/man/*.in))

all: $(B)/hotcell $(B)/hotcelld $(B)/hotcell-shim $(B)/hotcell-ledger $(B)/hotcell-tls $(B)/libcell.a $(LIBRARY) $(B)/manifest.schema.json $(REPORT) $(KERNEL) $(MAN) $(COMPLETION) ## programs, libhotcell, man pages and completions, in build; the default
help: ## this list
	@awk -F ' +## ' '/^[a-z][a-z-]*:.* ## / { sub(/:.*/, "", $$1); printf "%-17s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
# Some commands become programs of their own, which print their help.
$(COMPLETION): src/facts/completion.py $(B)/hotcell $(B)/hotcell-ledger $(REPORT)
	@mkdir -p $(@D)
	$(PYTHON) -I $< $(B)/hotcell $(@F) $(basename $(notdir $(wildcard policies/*.json))) >$@.new && mv $@.new $@
$(B)/libcell.a: $(CELL_OBJS)
	rm -f $@ && $(AR) rcs $@ $^
# Linkers write in small pieces, and a file so written lies in small pages until it is read from the disk again. Its copy, which is
# what users install, starts half a millisecond sooner.
COPIED = @cp $@ $@.new && mv $@.new $@
$(B)/hotcell: $(CLI_OBJS) $(B)/libcell.a
	$(CC) $(CFLAGS) $(LINK) -o $@ $^ $(LIBS) -lm
	$(COPIED)
$(B)/hotcell-ledger: $(LEDGER_OBJS) $(B)/libdaemon.a $(B)/libcell.a   # what "hotcell jobs" becomes: hotcell itself links no database
	$(CC) $(CFLAGS) $(LINK) -o $@ $^ $(LIBS_DAEMON) $(LIBS) -lm
# What carries a connection by https: no other program links a library for TLS.
$(B)/hotcell-tls: $(call objs,tls) $(B)/libcell.a
	$(CC) $(CFLAGS) $(LINK) -o $@ $^ $(LIBS_TLS)
# libhotcell shows hotcell_* alone. Of the ground it has what it calls: position-independent, and hidden like its own parts.
LIB_OBJS := $(patsubst src/%.c,$(B)/lib/obj/%.o,$(call src,lib))
LIB_GROUND := $(patsubst src/%.c,$(B)/lib/obj/%.o,$(call src,base) $(call src,json) $(addprefix src/,wire/answer.c client/http.c client/listed.c))
$(B)/lib/obj/%.o: src/%.c Makefile
	@mkdir -p $(@D) && echo "  CC $< (PIC)"
	@$(CC) $(CPPFLAGS) $(CFLAGS:-fPIE=-fPIC) -fvisibility=hidden -MMD -MP -c -o $@ $<
$(B)/lib/libground.a: $(LIB_GROUND)
	@rm -f $@ && $(AR) rcs $@ $^
$(B)/$(LIB_FILE): $(LIB_OBJS) $(B)/lib/libground.a src/lib/hotcell.map
	$(CC) $(CFLAGS:-fPIE=-fPIC) -shared $(LINK:-pie=) -Wl,-z,defs -Wl,-soname,libhotcell.so.$(LIB_ABI) -Wl,--version-script=src/lib/hotcell.map -o $@ $(filter %.o %.a,$^) $(LIBS_LIB)
	ln -sfn $(@F) $(B)/libhotcell.so.$(LIB_ABI) && ln -sfn $(@F) $(B)/libhotcell.so
# One object, in which all names but hotcell_* are local to it.
$(B)/libhotcell.a: $(LIB_OBJS) $(B)/lib/libground.a
	$(LD) -r -o $(B)/lib/libhotcell.o $^ && objcopy --localize-hidden $(B)/lib/libhotcell.o
	rm -f $@ && $(AR) rcs $@ $(B)/lib/libhotcell.o
# A shim for another Python beside this one, from objects of its own.
shims: $(B)/hotcell-shim ## also shims for other Pythons (PYTHONS="/path/to/python3.12 ..."), for trees that have these
	@set -e; for p in $(PYTHONS); do \
		abi=$$($$p -c 'import sys; print("%d.%d" % sys.version_info[:2])'); [ "$$abi" != $(PY_ABI) ] || continue; \
		$(MAKE) --no-print-directory PYTHON=$$p B=$(B)/python-$$abi $(B)/python-$$abi/hotcell-shim; \
		cp $(B)/python-$$abi/hotcell-shim $(B)/hotcell-shim-$$abi.new; mv $(B)/hotcell-shim-$$abi.new $(B)/hotcell-shim-$$abi; \
	done
$(B)/libinner.a: $(call objs,inside) $(GROUND_OBJS)
	rm -f $@ && $(AR) rcs $@ $^
$(B)/hotcelld: $(B)/obj/daemon/main.o $(B)/libdaemon.a $(B)/libcell.a
	$(CC) $(CFLAGS) $(LINK) -o $@ $^ $(LIBS) $(LIBS_DAEMON) -lm
$(B)/obj/daemon/http/other_routes.o: $(B)/gen/openapi.inc
$(B)/obj/shim/init_image.o: $(B)/gen/init.inc
# What users can set and what a manifest can say is written down once, in tables of C; templates take it from there (src/facts).
$(B)/facts: $(B)/obj/facts/facts.o $(B)/obj/daemon/config/config_options.o $(GROUND_OBJS)
	$(CC) $(CFLAGS) $(LINK) -o $@ $^ $(LIBS_GROUND) -lm
$(B)/gen/facts.json: $(B)/facts
	@mkdir -p $(@D) && $< >$@.new && mv $@.new $@
FILL = @mkdir -p $(@D) && $(PYTHON) -I src/facts/fill.py $(B)/gen/facts.json $(1) >$@.new && mv $@.new $@
FACTS := src/facts/fill.py $(B)/gen/facts.json
$(B)/gen/openapi.json: src/daemon/http/openapi.json.in $(B)/manifest.schema.json $(FACTS)   # the schema is the component Manifest
	$(call FILL,$< $(B)/manifest.schema.json)
$(B)/manifest.schema.json: src/manifest/manifest.schema.json.in $(FACTS)
	$(call FILL,$<)
$(B)/gen/facts.py: $(FACTS)
	$(call FILL,--python)
TYPES := $(firstword $(wildcard src/typescript/node_modules/.bin/openapi-typescript $(B)/typescript/node_modules/.bin/openapi-typescript))
generated: $(B)/gen/facts.py $(B)/gen/openapi.json ## src/python/hotcell/facts.py, made anew from the tables; if npm ci was run there, src/typescript/src/api.ts
	cp $< src/python/hotcell/facts.py
	@if [ -n "$(TYPES)" ]; then $(TYPES) $(B)/gen/openapi.json -o src/typescript/src/api.ts; \
	else echo "src/typescript/src/api.ts stays as it is: 'npm ci' in src/typescript gets what makes it"; fi
$(B)/gen/openapi.inc: $(B)/gen/openapi.json
$(B)/gen/init.inc: $(B)/init/init
$(B)/gen/openapi.inc $(B)/gen/init.inc:
	@mkdir -p $(@D) && od -An -v -tu1 $< | sed 's/\([0-9]\) *$$/\1,/; s/\([0-9]\)  */\1, /g' >$@.new && mv $@.new $@
# The first process of a warm cell: of its own, as it has no C library (init_start.c), and no sanitizer. Nothing would relocate it.
$(B)/init/%.o: src/shim/%.c Makefile
	@mkdir -p $(@D) && echo "  CC $<"
	@$(CC) $(CPPFLAGS) -std=gnu17 -O2 $(WARN) -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -U_FORTIFY_SOURCE -fPIE -MMD -MP -c -o $@ $<
$(B)/init/init: $(B)/init/init.o $(B)/init/init_start.o
	@$(CC) -nostdlib -static-pie -s -Wl,-z,noexecstack,-z,norelro,-z,noseparate-code -Wl,--build-id=none -o $@.new $^
	@! LC_ALL=C readelf -rW $@.new | grep -v "no relocations" | grep . || { echo "$@: has relocations" >&2; exit 1; }
	@mv $@.new $@
$(B)/hotcell-shim: $(SHIM_OBJS) $(B)/libinner.a $(B)/libpython.a $(B)/libsha2.a   # never libcell; of inside and the ground only what it calls
	$(CC) $(CFLAGS) $(LINK:-pie=-no-pie) -rdynamic -o $@ $^ $(PY_LIBS) $(LIBS_GROUND)
	$(COPIED)
# What libpython lacks, if it does: src/shim/cpython/sha2.c.
$(B)/libsha2.a: $(B)/obj/shim/cpython/sha2.o
	rm -f $@ && $(AR) rcs $@ $^
# The guard has its own of some functions (src/shim/guard/pointers.h).
$(B)/libpython.a: $(or $(PY_STATIC),$(error no libpython.a of $(PYTHON): install libpython3-dev, or build that Python with its static library)) Makefile $(B)/gen/python
	@mkdir -p $(@D)
	objcopy --strip-debug $(foreach f,PyLong_AsVoidPtr _PyDict_GetItemStringWithError PyDict_GetItemStringRef _Py_Deepfreeze_Init,--weaken-symbol=$f) $< $@.new && mv $@.new $@
# Whose Python the objects are for: another PYTHON in the same build compiles what depends on it anew.
$(B)/gen/python: FORCE
	@mkdir -p $(@D) && echo '$(PYTHON) $(PY_ABI)' | cmp -s - $@ || echo '$(PYTHON) $(PY_ABI)' >$@
FORCE:
$(call objs,shim shim/guard shim/harness shim/cpython) $(addprefix $(B)/obj/,base/state.o cell/doctor/host_place.o cli/main.o cli/tree_build.o daemon/main.o) $(B)/gen/harness.inc: $(B)/gen/python
$(B)/libdaemon.a: $(DAEMON_OBJS)
	rm -f $@ && $(AR) rcs $@ $^
$(B)/obj/shim/%.o: CPPFLAGS += $(PY_CFLAGS)
$(B)/obj/%.o: src/%.c Makefile
	@mkdir -p $(@D) && echo "  CC $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/obj/shim/harness/frozen.o: $(B)/gen/harness.inc
# What carries values, of the Python package, in the order in which it imports itself.
VALUES := $(patsubst %,src/python/hotcell/%.py,value_tags value_arrays value_times value_frames value_encoder value_decoder values)
$(B)/gen/harness.inc: src/shim/harness/freeze.py $(wildcard src/shim/harness/guest_*.py) $(VALUES)
	@mkdir -p $(@D) && $(PYTHON) -I $(filter %.py,$^) >$@.new && mv $@.new $@
$(B)/obj/cell/doctor/drill.o: $(B)/gen/drill.inc
$(B)/gen/drill.inc: src/cell/doctor/attacks/embed.py src/cell/doctor/attacks/kit.py $(filter-out %/embed.py %/kit.py,$(wildcard src/cell/doctor/attacks/*.py))
	@mkdir -p $(@D) && $(PYTHON) -I $^ >$@.new && mv $@.new $@
$(B)/hotcell-report/build.json: $(FACTS)
	$(call FILL,--report)
$(B)/hotcell-report/facts.py: $(B)/gen/facts.py
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(B)/hotcell-report/%: src/report/%
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(KERNEL): src/python/hotcell-kernel/__main__.py
	@mkdir -p $(@D) && ln -sfn $(CURDIR)/src/python/hotcell $(@D)/hotcell && cp $< $@.new && mv $@.new $@
$(B)/man/%: src/man/%.in $(FACTS)
	$(call FILL,$<)
$(B)/man/hotcell-bench.7: src/man/hotcell-bench.7.in src/man/measured.json src/man/measured-3.13.json src/facts/measured.py
	@mkdir -p $(@D) && $(PYTHON) -I src/facts/measured.py src/man/measured.json src/man/measured-3.13.json $< >$@.new && mv $@.new $@

$(B)/test/%: src/%.c $(B)/libcell.a
	@mkdir -p $(@D) && echo "  TEST $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LINK) -MMD -MP -MF $@.d -o $@ $< $(B)/libcell.a $(LIBS) -lm -lcmocka
$(B)/test/daemon/%: src/daemon/%.c $(B)/libdaemon.a $(B)/libcell.a
	@mkdir -p $(@D) && echo "  TEST $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LINK) -MMD -MP -MF $@.d -o $@ $< $(B)/libdaemon.a $(B)/libcell.a $(LIBS_DAEMON) $(LIBS) -lm -lcmocka
$(B)/test/daemon/ledger/print/%: src/daemon/ledger/print/%.c $(filter-out %/main.o,$(LEDGER_OBJS)) $(B)/libdaemon.a $(B)/libcell.a
	@mkdir -p $(@D) && echo "  TEST $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LINK) -MMD -MP -MF $@.d -o $@ $(filter-out %.h %.def,$^) $(LIBS_DAEMON) $(LIBS) -lm -lcmocka
$(B)/test/batch/%: src/batch/%.c $(BATCH_OBJS) $(call objs,client) $(B)/libcell.a
	@mkdir -p $(@D) && echo "  TEST $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LINK) -MMD -MP -MF $@.d -o $@ $(filter-out %.h %.def,$^) $(LIBS) -lm -lcmocka
$(B)/test/cli/%: src/cli/%.c $(filter-out %/main.o,$(CLI_OBJS)) $(B)/libcell.a
	@mkdir -p $(@D) && echo "  TEST $<"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LINK) -MMD -MP -MF $@.d -o $@ $(filter-out %.h %.def,$^) $(LIBS) -lm -lcmocka
# A hostile program where the launcher looks for the shim: tests/probe.
$(B)/probe/hotcell-shim: $(wildcard tests/probe/*.[ch]) src/wire/frame.h src/wire/handover.h
	@mkdir -p $(@D) && echo "  PROBE"
	@$(CC) $(CPPFLAGS) -std=gnu17 $(OPT) $(WARN) -static -o $@ $(filter %.c,$^)
$(B)/probe/hotcell: $(B)/hotcell
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
# The same program, whose jobs run in warm cells: tests/warm.
$(B)/warm/hotcell: tests/warm/warm.c $(CLI_OBJS) $(B)/libcell.a $(B)/warm/hotcell-shim
	@mkdir -p $(@D) && echo "  WARM"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LINK) -Wl,--wrap=hc_run,--wrap=hc_session_start -MMD -MP -MF $@.d -o $@ $(filter %.c %.o %.a,$^) $(LIBS) -lm
$(B)/warm/hotcell-shim: $(B)/hotcell-shim
	@mkdir -p $(@D) && cp $< $@.new && mv $@.new $@
$(B)/warm/siblings: tests/warm/siblings.c $(B)/libcell.a $(B)/warm/hotcell-shim
	@mkdir -p $(@D) && echo "  WARM"
	@$(CC) $(CPPFLAGS) $(CFLAGS) $(LINK) -MMD -MP -MF $@.d -o $@ $(filter %.c %.a,$^) $(LIBS) -lm
# And with a zygote that lies to its launcher.
$(B)/false/hotcell-shim: tests/warm/false.c src/inside/plan.h src/inside/park.h src/wire/frame.h
	@mkdir -p $(@D) && echo "  WARM"
	@$(CC) $(CPPFLAGS) -std=gnu17 $(OPT) $(WARN) -static -o $@ $<
$(B)/false/siblings: $(B)/warm/siblings $(B)/false/hotcell-shim
	@cp $< $@.new && mv $@.new $@
$(B)/warm/hotcell-shim-3.%: $(B)/hotcell-shim-3.%
	@cp $< $@.new && mv $@.new $@
warm: $(patsubst $(B)/%,$(B)/warm/%,$(wildcard $(B)/hotcell-shim-3.??)) $(B)/warm/hotcell $(B)/warm/siblings $(B)/false/siblings $(B)/warm/hotcell-report $(B)/warm/hotcell-kernel $(B)/warm/hotcell-tls ## for tests: a hotcell whose jobs run in warm cells
# The same report for both.
$(B)/warm/hotcell-report: $(REPORT)
	@mkdir -p $(@D) && ln -sfn ../hotcell-report $@
$(B)/warm/hotcell-tls: $(B)/hotcell-tls
	@mkdir -p $(@D) && ln -sfn ../hotcell-tls $@
$(B)/warm/hotcell-kernel: $(KERNEL)
	@mkdir -p $(@D) && ln -sfn ../hotcell-kernel $@
probe: $(B)/probe/hotcell $(B)/probe/hotcell-shim ## for tests: a hostile program in the place of the shim
unit: $(TESTS) ## tests of modules in C
	@for t in $^; do $$t >$(B)/unit.log 2>&1 || { cat $(B)/unit.log; echo "$$t failed"; exit 1; }; tail -n 1 $(B)/unit.log; done
check: all probe warm unit ## unit tests and the quick tests of whole cells (PYTEST='-k NAME'); scripts/test runs all tests
	HOTCELL_BUILD=$(abspath $(B)) $(PYTHON) -m pytest -q -n auto -m "not long" -p no:cacheprovider tests $(PYTEST)
asan: ## unit tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(MAKE) B=$(B)/asan SAN=1 unit
report: $(REPORT) ## only what "hotcell report" runs
asan-cells: all ## whole cells, both sides of the wall under the sanitizers; some layers have to be off for these
	$(MAKE) B=$(B)/asan-cells SAN=1 WEAK=1 $(B)/asan-cells/hotcell $(B)/asan-cells/hotcell-shim report
	tests/sanitized $(B)/asan-cells
	tests/sanitized_sessions $(B)/asan-cells $(B)
# Left to the sanitizers: valgrind has no seccomp(2), by which libseccomp asks what the kernel can and loads filters, and it takes the code
# that PCRE2 compiles, which reads whole vectors, for reads of what is not set. Nor has it openat2(2), and the memory of a process is its own.
VALGRINDED := $(filter-out %/apply-test %/filter-test %/redact-test %/redact_manifest-test %/sandbox-test %/steps-test %/tool_paths-test %/watch-test,$(TESTS))
valgrind: $(VALGRINDED:%=%.valgrind) ## unit tests under valgrind
	@echo "valgrind: clean"
$(VALGRINDED:%=%.valgrind): %.valgrind: %
	@valgrind -q --error-exitcode=9 --leak-check=full $< >/dev/null
# What all targets read is compiled once for them.
FUZZ_CC := clang $(CPPFLAGS) -std=gnu17 -g -O1 -MMD -MP
$(B)/fuzz/obj/%.o: src/%.c
	@mkdir -p $(@D)
	$(FUZZ_CC) -fsanitize=fuzzer-no-link,address,undefined -c -o $@ $<
$(B)/fuzz/libground.a: $(patsubst src/%.c,$(B)/fuzz/obj/%.o,$(foreach d,$(GROUND),$(call src,$(d))))
	rm -f $@ && $(AR) rcs $@ $^
$(B)/fuzz/%-fuzz: $(B)/fuzz/obj/%-fuzz.o $(B)/fuzz/libground.a
	@mkdir -p $(@D)
	clang -fsanitize=fuzzer,address,undefined -o $@ $(filter %.o,$^) $(B)/fuzz/libground.a $(LIBS_GROUND)
# Of the daemon only what parses.
$(B)/fuzz/daemon/config/config-fuzz: $(patsubst %,$(B)/fuzz/obj/daemon/config/%.o,config config_options config_print config_tokens)
$(B)/fuzz/daemon/http/request-fuzz: $(patsubst %,$(B)/fuzz/obj/daemon/%.o,http/request queue/tool_answer)
$(B)/fuzz/lib/result-fuzz: $(patsubst %,$(B)/fuzz/obj/%.o,lib/result lib/spec lib/place lib/exchange lib/child client/http client/listed)
$(B)/fuzz/batch/entry-fuzz: $(B)/fuzz/obj/batch/entry.o
# $(call fuzz_one,FLAGS): the target of this rule, its output only if it finds something
fuzz_one = @$< $(1) -rss_limit_mb=1024 -timeout=10 >$(B)/$(@F).log 2>&1 || { grep -A 12 'ERROR: \|runtime error: ' $(B)/$(@F).log | cut -c 1-160; tail -n 3 $(B)/$(@F).log; exit 1; }
fuzz_of = $(patsubst %-fuzz,%,$(basename $(@F)))
seeds_of = $(patsubst $(B)/fuzz/%,src/%/seeds/$(fuzz_of),$(@D))
fuzz: $(FUZZERS:%=%.fuzz) ## each fuzz target from the seeds beside it, for FUZZ_SECONDS (10)
$(FUZZERS:%=%.fuzz): %.fuzz: %
	@mkdir -p $(B)/corpus/$(fuzz_of)
	$(call fuzz_one,-max_total_time=$(or $(FUZZ_SECONDS),10) -artifact_prefix=$(B)/corpus/$(fuzz_of)- $(B)/corpus/$(fuzz_of) $(wildcard $(seeds_of)))
	@tail -n 1 $(B)/$(@F).log
fuzz-regressions: $(FUZZERS:%=%.once) ## seeds, what earlier runs of fuzz kept, and their findings: once each
	@echo "fuzz regressions: clean"
$(FUZZERS:%=%.once): %.once: %
	$(call fuzz_one,-runs=1 $$(find $(seeds_of) $(B)/corpus/$(fuzz_of) $(B)/corpus/$(fuzz_of)-* -type f 2>/dev/null))
lint: $(B)/gen/harness.inc $(B)/gen/drill.inc $(B)/gen/openapi.inc $(B)/gen/init.inc $(B)/gen/facts.py ## all checks of scripts/lint
	scripts/lint $(B)
bench: all ## measurements, with a report in build/bench (BENCH='cold --peer ...')
	$(MAKE) WEAK=1 B=$(B)/weak $(B)/weak/hotcell $(B)/weak/hotcell-shim
	tests/bench/run --build $(B) $(BENCH)
soak: all ## eight hours of jobs, nothing of which may grow (SOAK='--hours 1')
	tests/bench/run --build $(B) -o $(B)/soak soak $(SOAK)
install: all ## programs, libhotcell, policies, recipes, man pages, units and the Python package (PREFIX, DESTDIR, LIBDIR, PYTHONDIR)
	@! grep -q HOTCELL_WITHOUT $(B)/hotcell || { echo "install: $(B) is a weakened build, for tests only" >&2; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/hotcell $(DESTDIR)$(PREFIX)/share/hotcell/policies $(DESTDIR)$(PREFIX)/share/hotcell/rootfs
	install $(B)/hotcell $(B)/hotcelld $(DESTDIR)$(PREFIX)/bin/
	install $(B)/hotcell-ledger $(B)/hotcell-tls $(wildcard $(B)/hotcell-shim-3.??) $(DESTDIR)$(PREFIX)/libexec/hotcell/
	install $(B)/hotcell-shim $(DESTDIR)$(PREFIX)/libexec/hotcell/hotcell-shim-$(PY_ABI)
	ln -sfn hotcell-shim-$(PY_ABI) $(DESTDIR)$(PREFIX)/libexec/hotcell/hotcell-shim
	install -d $(DESTDIR)$(PREFIX)/libexec/hotcell/hotcell-report
	install -m 644 $(REPORT) $(DESTDIR)$(PREFIX)/libexec/hotcell/hotcell-report/
	install -D -m 644 $(KERNEL) $(DESTDIR)$(PREFIX)/libexec/hotcell/hotcell-kernel/__main__.py
	install -m 644 policies/*.json $(DESTDIR)$(PREFIX)/share/hotcell/policies/
	install -m 644 rootfs/*.json rootfs/*.py $(DESTDIR)$(PREFIX)/share/hotcell/rootfs/
	install -m 644 $(B)/manifest.schema.json $(DESTDIR)$(PREFIX)/share/hotcell/
	install -d $(DESTDIR)$(PYTHONDIR)/hotcell/adapters
	install -m 644 src/python/hotcell/py.typed src/python/hotcell/*.py $(DESTDIR)$(PYTHONDIR)/hotcell/
	install -m 644 src/python/hotcell/adapters/*.py $(DESTDIR)$(PYTHONDIR)/hotcell/adapters/
	install src/python/hotcell-runner src/python/hotcell-pyrun $(DESTDIR)$(PREFIX)/bin/
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system
	for u in service socket; do sed 's|/usr/local/|$(PREFIX)/|' scripts/systemd/hotcelld.$$u >$(DESTDIR)$(PREFIX)/lib/systemd/system/hotcelld.$$u; done
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/user $(DESTDIR)$(PREFIX)/share/hotcell/systemd
	sed 's|/usr/local/|$(PREFIX)/|' scripts/systemd/user/hotcelld.service >$(DESTDIR)$(PREFIX)/lib/systemd/user/hotcelld.service
	sed 's|/usr/local/|$(PREFIX)/|' scripts/systemd/unprivileged.conf >$(DESTDIR)$(PREFIX)/share/hotcell/systemd/unprivileged.conf
	install -D -m 644 scripts/systemd/sysusers.conf $(DESTDIR)$(PREFIX)/lib/sysusers.d/hotcell.conf
	install -D -m 644 scripts/systemd/tmpfiles.conf $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/hotcell.conf
	install -D -m 644 scripts/oci/seccomp.json $(DESTDIR)$(PREFIX)/share/hotcell/oci/seccomp.json
	install -d $(DESTDIR)$(PREFIX)/share/hotcell/apparmor
	sed 's|/usr/local/|$(PREFIX)/|' scripts/apparmor/hotcell >$(DESTDIR)$(PREFIX)/share/hotcell/apparmor/hotcell
	install -d $(DESTDIR)$(PREFIX)/libexec/hotcell/slurm
	install $(wildcard scripts/slurm/*) $(DESTDIR)$(PREFIX)/libexec/hotcell/slurm/
	install -D -m 644 $(B)/completion/bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/hotcell
	install -D -m 644 $(B)/completion/zsh $(DESTDIR)$(ZSHDIR)/_hotcell
	install -D -m 644 $(B)/completion/fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/hotcell.fish
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $(B)/$(LIB_FILE) $(B)/libhotcell.a $(DESTDIR)$(LIBDIR)/
	ln -sfn $(LIB_FILE) $(DESTDIR)$(LIBDIR)/libhotcell.so.$(LIB_ABI) && ln -sfn libhotcell.so.$(LIB_ABI) $(DESTDIR)$(LIBDIR)/libhotcell.so
	[ -n '$(DESTDIR)' ] || ldconfig 2>/dev/null || true # let the loader find the library: only root can
	sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR)|; s|@VERSION@|$(VERSION)|' src/lib/libhotcell.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/libhotcell.pc
	install -D -m 644 src/lib/hotcell.h $(DESTDIR)$(PREFIX)/include/hotcell.h
	install -D -m 644 tests/examples/wrapper.c $(DESTDIR)$(PREFIX)/share/doc/libhotcell-dev/examples/wrapper.c
	for m in $(MAN); do install -D -m 644 $$m $(DESTDIR)$(PREFIX)/share/man/man$${m##*.}/$$(basename $$m); done
deb: ## Debian's packages, in build/deb, for the release that this runs on
	scripts/deb/build
uninstall: ## what install put there (its PREFIX, DESTDIR, LIBDIR and PYTHONDIR); trees, results and configuration stay
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/bin/,hotcell hotcelld hotcell-runner hotcell-pyrun)
	rm -rf $(DESTDIR)$(PREFIX)/libexec/hotcell $(DESTDIR)$(PREFIX)/share/hotcell $(DESTDIR)$(PYTHONDIR)/hotcell
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/lib/,systemd/system/hotcelld.service systemd/system/hotcelld.socket systemd/user/hotcelld.service sysusers.d/hotcell.conf tmpfiles.d/hotcell.conf)
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(LIB_FILE) libhotcell.so.$(LIB_ABI) libhotcell.so libhotcell.a pkgconfig/libhotcell.pc)
	rm -rf $(DESTDIR)$(PREFIX)/include/hotcell.h $(DESTDIR)$(PREFIX)/share/doc/libhotcell-dev
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/hotcell $(DESTDIR)$(ZSHDIR)/_hotcell $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/hotcell.fish
	rm -f $(foreach m,$(notdir $(MAN)),$(DESTDIR)$(PREFIX)/share/man/man$(subst .,,$(suffix $(m)))/$(m))
clean: ## remove build, with all that is in it
	rm -rf $(B)
# Not of the roots that scripts/debian makes, in which other files are called so.
-include $(shell find $(B) -path '$(B)/debian-*' -prune -o -name '*.d' -type f -print 2>/dev/null)
.PHONY: all generated help shims probe warm report unit check asan asan-cells valgrind fuzz fuzz-regressions lint bench soak install deb uninstall clean
.DELETE_ON_ERROR:
