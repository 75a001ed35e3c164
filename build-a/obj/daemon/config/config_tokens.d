build/obj/daemon/config/config_tokens.o: \
 src/daemon/config/config_tokens.c src/daemon/config/config.h \
 src/base/hash.h src/policy/options.h src/policy/policy.h src/json/json.h \
 src/base/buf.h src/base/error.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/policy/tighten.h
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
