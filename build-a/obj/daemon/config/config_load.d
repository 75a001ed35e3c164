build/obj/daemon/config/config_load.o: src/daemon/config/config_load.c \
 src/daemon/config/config.h src/base/hash.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/buf.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/tighten.h src/base/fd.h \
 src/base/state.h src/base/units.h src/cell/key.h src/cell/policies.h
src/daemon/config/config.h:
src/base/hash.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/policy/tighten.h:
src/base/fd.h:
src/base/state.h:
src/base/units.h:
src/cell/key.h:
src/cell/policies.h:
