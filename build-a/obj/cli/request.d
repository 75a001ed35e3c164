build/obj/cli/request.o: src/cli/request.c src/cli/request.h \
 src/base/buf.h src/job/job.h src/policy/interface.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/base/arguments.h \
 src/base/fd.h src/base/units.h src/batch/batch.h src/batch/result.h \
 src/batch/entry.h src/manifest/manifest.h src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/usage.h src/manifest/usage.def \
 src/manifest/status.def src/manifest/layer.def src/cell/key.h \
 src/cell/policies.h src/cell/policy_store.h src/cell/steps.h \
 src/cli/cli.h src/base/log.h
src/cli/request.h:
src/base/buf.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
src/base/arguments.h:
src/base/fd.h:
src/base/units.h:
src/batch/batch.h:
src/batch/result.h:
src/batch/entry.h:
src/manifest/manifest.h:
src/job/tool_call.h:
src/manifest/changes.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/manifest/samples.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/manifest/status.def:
src/manifest/layer.def:
src/cell/key.h:
src/cell/policies.h:
src/cell/policy_store.h:
src/cell/steps.h:
src/cli/cli.h:
src/base/log.h:
