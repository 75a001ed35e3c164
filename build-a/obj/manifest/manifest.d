build/obj/manifest/manifest.o: src/manifest/manifest.c \
 src/manifest/manifest.h src/base/hash.h src/job/job.h \
 src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/job/job_options.def src/job/tool_call.h src/manifest/changes.h \
 src/manifest/denial.h src/manifest/denial.def src/manifest/samples.h \
 src/manifest/usage.h src/manifest/usage.def src/manifest/status.def \
 src/manifest/layer.def src/base/plain.h src/base/utf8.h \
 src/manifest/report.h
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
src/base/plain.h:
src/base/utf8.h:
src/manifest/report.h:
