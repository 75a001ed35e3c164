build/obj/daemon/queue/upload_store.o: src/daemon/queue/upload_store.c \
 src/daemon/queue/upload_store.h src/base/buf.h src/base/hash.h \
 src/daemon/process/problem.h src/daemon/queue/task.h \
 src/daemon/process/channel.h src/base/error.h src/cell/warm_counts.h \
 src/manifest/figure.h src/policy/policy.h src/json/json.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/daemon/process/reactor.h \
 src/daemon/process/states.h src/daemon/queue/figures.h \
 src/daemon/queue/queue.h src/daemon/tenants/tenant.h \
 src/daemon/config/config.h src/policy/options.h src/policy/tighten.h \
 src/daemon/queue/tool_link.h src/daemon/tenants/request_memory.h \
 src/wire/events.h src/base/clock.h src/base/fd.h src/base/kernel.h \
 src/base/log.h src/base/units.h
src/daemon/queue/upload_store.h:
src/base/buf.h:
src/base/hash.h:
src/daemon/process/problem.h:
src/daemon/queue/task.h:
src/daemon/process/channel.h:
src/base/error.h:
src/cell/warm_counts.h:
src/manifest/figure.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/daemon/process/reactor.h:
src/daemon/process/states.h:
src/daemon/queue/figures.h:
src/daemon/queue/queue.h:
src/daemon/tenants/tenant.h:
src/daemon/config/config.h:
src/policy/options.h:
src/policy/tighten.h:
src/daemon/queue/tool_link.h:
src/daemon/tenants/request_memory.h:
src/wire/events.h:
src/base/clock.h:
src/base/fd.h:
src/base/kernel.h:
src/base/log.h:
src/base/units.h:
