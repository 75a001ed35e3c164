build/obj/cell/doctor/drill.o: src/cell/doctor/drill.c src/cell/drill.h \
 src/manifest/manifest.h src/base/hash.h src/job/job.h \
 src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/job/job_options.def src/job/tool_call.h src/manifest/changes.h \
 src/manifest/denial.h src/manifest/denial.def src/manifest/samples.h \
 src/manifest/usage.h src/manifest/usage.def src/manifest/status.def \
 src/manifest/layer.def src/cell/doctor/drill_range.h \
 src/cell/doctor/decoys.h src/cell/warm/zygote.h src/cell/launch/parked.h \
 src/cell/cgroup.h src/cell/launch/layers.h src/cell/ids.h \
 src/inside/plan.h src/inside/weak.h src/wire/handover.h \
 src/base/version.h build/gen/drill.inc
src/cell/drill.h:
src/manifest/manifest.h:
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
src/job/tool_call.h:
src/manifest/changes.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/manifest/samples.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/manifest/status.def:
src/manifest/layer.def:
src/cell/doctor/drill_range.h:
src/cell/doctor/decoys.h:
src/cell/warm/zygote.h:
src/cell/launch/parked.h:
src/cell/cgroup.h:
src/cell/launch/layers.h:
src/cell/ids.h:
src/inside/plan.h:
src/inside/weak.h:
src/wire/handover.h:
src/base/version.h:
build/gen/drill.inc:
