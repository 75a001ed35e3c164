build/obj/batch/resume.o: src/batch/resume.c src/batch/resume.h \
 src/batch/folder.h src/base/buf.h src/base/error.h src/batch/entry.h \
 src/base/hash.h src/batch/lineset.h src/batch/result.h \
 src/manifest/manifest.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/policy/policy.h src/json/json.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/usage.h src/manifest/usage.def \
 src/manifest/status.def src/manifest/layer.def src/batch/job_ids.h \
 src/base/fd.h src/batch/batch.h src/batch/reader.h
src/batch/resume.h:
src/batch/folder.h:
src/base/buf.h:
src/base/error.h:
src/batch/entry.h:
src/base/hash.h:
src/batch/lineset.h:
src/batch/result.h:
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
src/batch/job_ids.h:
src/base/fd.h:
src/batch/batch.h:
src/batch/reader.h:
