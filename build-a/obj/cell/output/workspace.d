build/obj/cell/output/workspace.o: src/cell/output/workspace.c \
 src/cell/workspace.h src/cell/collect.h src/manifest/figure.h \
 src/base/buf.h src/base/error.h src/base/hash.h src/manifest/manifest.h \
 src/job/job.h src/policy/interface.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/job/job_options.def \
 src/job/tool_call.h src/manifest/changes.h src/manifest/denial.h \
 src/manifest/denial.def src/manifest/samples.h src/manifest/usage.h \
 src/manifest/usage.def src/manifest/status.def src/manifest/layer.def \
 src/base/fd.h src/base/units.h src/cell/output/pump.h \
 src/cell/output/walk.h src/base/kernel.h
src/cell/workspace.h:
src/cell/collect.h:
src/manifest/figure.h:
src/base/buf.h:
src/base/error.h:
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
src/base/units.h:
src/cell/output/pump.h:
src/cell/output/walk.h:
src/base/kernel.h:
