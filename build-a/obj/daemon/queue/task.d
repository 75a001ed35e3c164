build/obj/daemon/queue/task.o: src/daemon/queue/task.c \
 src/daemon/queue/task.h src/base/hash.h src/daemon/process/channel.h \
 src/base/error.h src/cell/warm_counts.h src/manifest/figure.h \
 src/base/buf.h src/policy/policy.h src/json/json.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/daemon/process/problem.h src/daemon/process/reactor.h \
 src/daemon/process/states.h src/daemon/queue/figures.h \
 src/daemon/queue/queue.h src/daemon/tenants/tenant.h \
 src/daemon/config/config.h src/policy/options.h src/policy/tighten.h \
 src/daemon/queue/tool_link.h src/daemon/tenants/request_memory.h \
 src/wire/events.h src/base/clock.h src/base/fd.h src/base/utf8.h \
 src/daemon/queue/hold.h
src/daemon/queue/task.h:
src/base/hash.h:
src/daemon/process/channel.h:
src/base/error.h:
src/cell/warm_counts.h:
src/manifest/figure.h:
src/base/buf.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/daemon/process/problem.h:
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
src/base/utf8.h:
src/daemon/queue/hold.h:
