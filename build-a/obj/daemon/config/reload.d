build/obj/daemon/config/reload.o: src/daemon/config/reload.c \
 src/daemon/config/reload.h src/daemon/config/config.h src/base/hash.h \
 src/policy/options.h src/policy/policy.h src/json/json.h src/base/buf.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/tighten.h src/daemon/process/channel.h \
 src/cell/warm_counts.h src/manifest/figure.h src/base/fd.h
src/daemon/config/reload.h:
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
src/daemon/process/channel.h:
src/cell/warm_counts.h:
src/manifest/figure.h:
src/base/fd.h:
