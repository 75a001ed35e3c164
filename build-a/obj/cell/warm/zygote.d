build/obj/cell/warm/zygote.o: src/cell/warm/zygote.c \
 src/cell/warm/zygote.h src/cell/launch/parked.h src/base/hash.h \
 src/cell/cgroup.h src/base/error.h src/manifest/usage.h \
 src/manifest/usage.def src/policy/options.h src/policy/policy.h \
 src/json/json.h src/base/buf.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/cell/launch/layers.h \
 src/cell/ids.h src/inside/plan.h src/inside/weak.h src/wire/handover.h \
 src/base/version.h src/job/job.h src/policy/interface.h \
 src/job/job_options.def src/manifest/manifest.h src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/status.def src/manifest/layer.def \
 src/base/fd.h src/base/kernel.h src/base/clock.h src/base/status.h \
 src/base/packet.h src/cell/launch/launch.h src/cell/run.h \
 src/cell/collect.h src/manifest/figure.h src/cell/seccomp/learn.h \
 src/cell/supervise/figures.h src/cell/supervise/input_copies.h \
 src/cell/supervise/supervise.h src/cell/seccomp/listener.h \
 src/cell/supervise/held.h src/cell/tools.h src/wire/frame.h \
 src/cell/tree.h src/cell/workspace.h src/inside/park.h
src/cell/warm/zygote.h:
src/cell/launch/parked.h:
src/base/hash.h:
src/cell/cgroup.h:
src/base/error.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/base/buf.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/launch/layers.h:
src/cell/ids.h:
src/inside/plan.h:
src/inside/weak.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/job/job_options.def:
src/manifest/manifest.h:
src/job/tool_call.h:
src/manifest/changes.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/manifest/samples.h:
src/manifest/status.def:
src/manifest/layer.def:
src/base/fd.h:
src/base/kernel.h:
src/base/clock.h:
src/base/status.h:
src/base/packet.h:
src/cell/launch/launch.h:
src/cell/run.h:
src/cell/collect.h:
src/manifest/figure.h:
src/cell/seccomp/learn.h:
src/cell/supervise/figures.h:
src/cell/supervise/input_copies.h:
src/cell/supervise/supervise.h:
src/cell/seccomp/listener.h:
src/cell/supervise/held.h:
src/cell/tools.h:
src/wire/frame.h:
src/cell/tree.h:
src/cell/workspace.h:
src/inside/park.h:
