build/obj/batch/worker.o: src/batch/worker.c src/batch/worker.h \
 src/batch/batch.h src/batch/result.h src/base/buf.h src/base/error.h \
 src/batch/entry.h src/base/hash.h src/manifest/manifest.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/json/json.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/usage.h src/manifest/usage.def \
 src/manifest/status.def src/manifest/layer.def src/base/fd.h \
 src/base/log.h src/base/packet.h src/batch/folder.h src/cell/collect.h \
 src/manifest/figure.h src/cell/key.h src/cell/run.h src/cell/cgroup.h \
 src/cell/seccomp/learn.h src/cell/supervise/figures.h src/cell/steps.h \
 src/cell/warm.h src/cell/warm/policy_cache.h src/policy/tighten.h \
 src/cell/warm/zygote.h src/cell/launch/parked.h src/cell/launch/layers.h \
 src/cell/ids.h src/inside/plan.h src/inside/weak.h src/wire/handover.h \
 src/base/version.h src/cell/warm_counts.h src/client/remote.h
src/batch/worker.h:
src/batch/batch.h:
src/batch/result.h:
src/base/buf.h:
src/base/error.h:
src/batch/entry.h:
src/base/hash.h:
src/manifest/manifest.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
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
src/base/fd.h:
src/base/log.h:
src/base/packet.h:
src/batch/folder.h:
src/cell/collect.h:
src/manifest/figure.h:
src/cell/key.h:
src/cell/run.h:
src/cell/cgroup.h:
src/cell/seccomp/learn.h:
src/cell/supervise/figures.h:
src/cell/steps.h:
src/cell/warm.h:
src/cell/warm/policy_cache.h:
src/policy/tighten.h:
src/cell/warm/zygote.h:
src/cell/launch/parked.h:
src/cell/launch/layers.h:
src/cell/ids.h:
src/inside/plan.h:
src/inside/weak.h:
src/wire/handover.h:
src/base/version.h:
src/cell/warm_counts.h:
src/client/remote.h:
