build/obj/daemon/queue/hold.o: src/daemon/queue/hold.c \
 src/daemon/queue/hold.h src/base/buf.h src/daemon/tenants/tenant.h \
 src/daemon/config/config.h src/base/hash.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/policy/tighten.h src/base/clock.h src/daemon/queue/task.h \
 src/daemon/process/channel.h src/cell/warm_counts.h \
 src/manifest/figure.h src/daemon/process/problem.h \
 src/daemon/process/reactor.h src/daemon/process/states.h \
 src/daemon/queue/figures.h src/daemon/queue/queue.h \
 src/daemon/queue/tool_link.h src/daemon/tenants/request_memory.h \
 src/wire/events.h
src/daemon/queue/hold.h:
src/base/buf.h:
src/daemon/tenants/tenant.h:
src/daemon/config/config.h:
src/base/hash.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/policy/tighten.h:
src/base/clock.h:
src/daemon/queue/task.h:
src/daemon/process/channel.h:
src/cell/warm_counts.h:
src/manifest/figure.h:
src/daemon/process/problem.h:
src/daemon/process/reactor.h:
src/daemon/process/states.h:
src/daemon/queue/figures.h:
src/daemon/queue/queue.h:
src/daemon/queue/tool_link.h:
src/daemon/tenants/request_memory.h:
src/wire/events.h:
