build/obj/daemon/main.o: src/daemon/main.c src/base/arguments.h \
 src/base/fd.h src/base/buf.h src/base/error.h src/base/log.h \
 src/base/program.h src/daemon/manager.h src/daemon/config/config.h \
 src/base/hash.h src/policy/options.h src/policy/policy.h src/json/json.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/tighten.h
src/base/arguments.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
src/base/log.h:
src/base/program.h:
src/daemon/manager.h:
src/daemon/config/config.h:
src/base/hash.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/policy/tighten.h:
