build/obj/manifest/changes.o: src/manifest/changes.c \
 src/manifest/changes.h src/base/error.h src/base/hash.h src/json/json.h \
 src/base/buf.h src/manifest/manifest.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/job/tool_call.h \
 src/manifest/denial.h src/manifest/denial.def src/manifest/samples.h \
 src/manifest/usage.h src/manifest/usage.def src/manifest/status.def \
 src/manifest/layer.def
src/manifest/changes.h:
src/base/error.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/manifest/manifest.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/policy/policy.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
src/job/tool_call.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/manifest/samples.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/manifest/status.def:
src/manifest/layer.def:
