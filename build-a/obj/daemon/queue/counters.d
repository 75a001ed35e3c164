build/obj/daemon/queue/counters.o: src/daemon/queue/counters.c \
 src/daemon/queue/counters.h src/daemon/process/channel.h \
 src/base/error.h src/cell/warm_counts.h src/manifest/figure.h \
 src/base/buf.h src/base/hash.h src/policy/policy.h src/json/json.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/manifest/manifest.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/job/job_options.def \
 src/job/tool_call.h src/manifest/changes.h src/manifest/denial.h \
 src/manifest/denial.def src/manifest/samples.h src/manifest/usage.h \
 src/manifest/usage.def src/manifest/status.def src/manifest/layer.def
src/daemon/queue/counters.h:
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
src/manifest/manifest.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
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
