build/obj/daemon/http/listen.o: src/daemon/http/listen.c \
 src/daemon/http/listen.h src/daemon/config/config.h src/base/hash.h \
 src/policy/options.h src/policy/policy.h src/json/json.h src/base/buf.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/tighten.h src/base/fd.h \
 src/base/units.h
src/daemon/http/listen.h:
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
src/base/units.h:
