build/obj/facts/facts.o: src/facts/facts.c src/daemon/config/config.h \
 src/base/hash.h src/policy/options.h src/policy/policy.h src/json/json.h \
 src/base/buf.h src/base/error.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/policy/tighten.h \
 src/job/job.h src/policy/interface.h src/job/job_options.def \
 src/manifest/manifest.h src/job/tool_call.h src/manifest/changes.h \
 src/manifest/denial.h src/manifest/denial.def src/manifest/samples.h \
 src/manifest/usage.h src/manifest/usage.def src/manifest/status.def \
 src/manifest/layer.def
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
src/job/job.h:
src/policy/interface.h:
src/job/job_options.def:
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
