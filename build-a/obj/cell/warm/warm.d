build/obj/cell/warm/warm.o: src/cell/warm/warm.c src/cell/warm.h \
 src/cell/warm/policy_cache.h src/base/hash.h src/job/job.h \
 src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/job/job_options.def src/policy/tighten.h src/cell/warm/zygote.h \
 src/cell/launch/parked.h src/cell/cgroup.h src/manifest/usage.h \
 src/manifest/usage.def src/cell/launch/layers.h src/cell/ids.h \
 src/inside/plan.h src/inside/weak.h src/wire/handover.h \
 src/base/version.h src/manifest/manifest.h src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/status.def src/manifest/layer.def \
 src/cell/warm_counts.h src/base/log.h src/base/clock.h src/cell/run.h \
 src/cell/collect.h src/manifest/figure.h src/cell/seccomp/learn.h \
 src/cell/supervise/figures.h
src/cell/warm.h:
src/cell/warm/policy_cache.h:
src/base/hash.h:
src/job/job.h:
src/policy/interface.h:
src/base/buf.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
src/policy/tighten.h:
src/cell/warm/zygote.h:
src/cell/launch/parked.h:
src/cell/cgroup.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/cell/launch/layers.h:
src/cell/ids.h:
src/inside/plan.h:
src/inside/weak.h:
src/wire/handover.h:
src/base/version.h:
src/manifest/manifest.h:
src/job/tool_call.h:
src/manifest/changes.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/manifest/samples.h:
src/manifest/status.def:
src/manifest/layer.def:
src/cell/warm_counts.h:
src/base/log.h:
src/base/clock.h:
src/cell/run.h:
src/cell/collect.h:
src/manifest/figure.h:
src/cell/seccomp/learn.h:
src/cell/supervise/figures.h:
