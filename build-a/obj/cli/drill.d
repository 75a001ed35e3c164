build/obj/cli/drill.o: src/cli/drill.c src/cli/drill.h src/base/fd.h \
 src/base/buf.h src/base/error.h src/base/plain.h src/cell/drill.h \
 src/manifest/manifest.h src/base/hash.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/json/json.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/usage.h src/manifest/usage.def \
 src/manifest/status.def src/manifest/layer.def src/cell/policies.h \
 src/cli/cancel.h src/cli/cli.h src/base/log.h
src/cli/drill.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
src/base/plain.h:
src/cell/drill.h:
src/manifest/manifest.h:
src/base/hash.h:
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
src/cell/policies.h:
src/cli/cancel.h:
src/cli/cli.h:
src/base/log.h:
