build/obj/daemon/manager.o: src/daemon/manager.c src/daemon/manager.h \
 src/daemon/config/config.h src/base/hash.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/buf.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/tighten.h src/base/clock.h \
 src/base/fd.h src/base/log.h src/cell/cgroup.h src/manifest/usage.h \
 src/manifest/usage.def src/cell/steps.h src/cell/warm.h \
 src/cell/warm/policy_cache.h src/job/job.h src/policy/interface.h \
 src/job/job_options.def src/cell/warm/zygote.h src/cell/launch/parked.h \
 src/cell/launch/layers.h src/cell/ids.h src/inside/plan.h \
 src/inside/weak.h src/wire/handover.h src/base/version.h \
 src/manifest/manifest.h src/job/tool_call.h src/manifest/changes.h \
 src/manifest/denial.h src/manifest/denial.def src/manifest/samples.h \
 src/manifest/status.def src/manifest/layer.def src/cell/warm_counts.h \
 src/daemon/config/reload.h src/daemon/process/channel.h \
 src/manifest/figure.h src/daemon/front.h src/daemon/http/listen.h \
 src/daemon/process/trees.h src/daemon/ledger/wal_checkpoint.h \
 src/daemon/process/notify.h src/daemon/process/rights.h \
 src/daemon/worker.h
src/daemon/manager.h:
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
src/base/clock.h:
src/base/fd.h:
src/base/log.h:
src/cell/cgroup.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/cell/steps.h:
src/cell/warm.h:
src/cell/warm/policy_cache.h:
src/job/job.h:
src/policy/interface.h:
src/job/job_options.def:
src/cell/warm/zygote.h:
src/cell/launch/parked.h:
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
src/daemon/config/reload.h:
src/daemon/process/channel.h:
src/manifest/figure.h:
src/daemon/front.h:
src/daemon/http/listen.h:
src/daemon/process/trees.h:
src/daemon/ledger/wal_checkpoint.h:
src/daemon/process/notify.h:
src/daemon/process/rights.h:
src/daemon/worker.h:
