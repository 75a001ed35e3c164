build/obj/daemon/sessions/session_answers.o: \
 src/daemon/sessions/session_answers.c \
 src/daemon/sessions/session_parts.h src/daemon/sessions/sessions.h \
 src/daemon/queue/dispatch.h src/daemon/queue/upload_store.h \
 src/base/buf.h src/base/hash.h src/daemon/process/problem.h \
 src/daemon/queue/task.h src/daemon/process/channel.h src/base/error.h \
 src/cell/warm_counts.h src/manifest/figure.h src/policy/policy.h \
 src/json/json.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/daemon/process/reactor.h \
 src/daemon/process/states.h src/daemon/queue/figures.h \
 src/daemon/queue/queue.h src/daemon/tenants/tenant.h \
 src/daemon/config/config.h src/policy/options.h src/policy/tighten.h \
 src/daemon/queue/tool_link.h src/daemon/tenants/request_memory.h \
 src/wire/events.h src/daemon/process/trees.h src/daemon/queue/counters.h \
 src/manifest/manifest.h src/job/job.h src/policy/interface.h \
 src/job/job_options.def src/job/tool_call.h src/manifest/changes.h \
 src/manifest/denial.h src/manifest/denial.def src/manifest/samples.h \
 src/manifest/usage.h src/manifest/usage.def src/manifest/status.def \
 src/manifest/layer.def src/daemon/queue/store.h \
 src/daemon/ledger/ledger.h src/base/clock.h src/base/fd.h src/base/log.h
src/daemon/sessions/session_parts.h:
src/daemon/sessions/sessions.h:
src/daemon/queue/dispatch.h:
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
src/daemon/process/trees.h:
src/daemon/queue/counters.h:
src/manifest/manifest.h:
src/job/job.h:
src/policy/interface.h:
src/job/job_options.def:
src/job/tool_call.h:
src/manifest/changes.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/manifest/samples.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/manifest/status.def:
src/manifest/layer.def:
src/daemon/queue/store.h:
src/daemon/ledger/ledger.h:
src/base/clock.h:
src/base/fd.h:
src/base/log.h:
