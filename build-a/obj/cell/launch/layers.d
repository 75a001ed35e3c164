build/obj/cell/launch/layers.o: src/cell/launch/layers.c \
 src/cell/launch/layers.h src/cell/cgroup.h src/base/error.h \
 src/manifest/usage.h src/manifest/usage.def src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/buf.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/ids.h src/inside/plan.h src/inside/weak.h \
 src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/job/job_options.def src/manifest/manifest.h \
 src/job/tool_call.h src/manifest/changes.h src/manifest/denial.h \
 src/manifest/denial.def src/manifest/samples.h src/manifest/status.def \
 src/manifest/layer.def src/base/fd.h src/inside/clocks.h \
 src/inside/cores.h
src/cell/launch/layers.h:
src/cell/cgroup.h:
src/base/error.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
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
src/inside/clocks.h:
src/inside/cores.h:
