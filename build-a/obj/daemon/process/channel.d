build/obj/daemon/process/channel.o: src/daemon/process/channel.c \
 src/daemon/process/channel.h src/base/error.h src/cell/warm_counts.h \
 src/manifest/figure.h src/base/buf.h src/base/hash.h src/policy/policy.h \
 src/json/json.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/base/fd.h src/base/packet.h
src/daemon/process/channel.h:
src/base/error.h:
src/cell/warm_counts.h:
src/manifest/figure.h:
src/base/buf.h:
src/base/hash.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/base/fd.h:
src/base/packet.h:
