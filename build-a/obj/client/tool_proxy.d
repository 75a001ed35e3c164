build/obj/client/tool_proxy.o: src/client/tool_proxy.c \
 src/client/tool_proxy.h src/cell/tools.h src/job/tool_call.h \
 src/policy/tool.h src/json/schema.h src/json/json.h src/base/buf.h \
 src/base/error.h src/manifest/denial.h src/manifest/denial.def \
 src/client/http.h src/wire/answer.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/policy/policy.h src/base/hash.h \
 src/policy/rules.h src/policy/limits.def src/job/job_options.def \
 src/base/fd.h src/base/log.h src/base/clock.h src/client/job_result.h \
 src/manifest/manifest.h src/manifest/changes.h src/manifest/samples.h \
 src/manifest/usage.h src/manifest/usage.def src/manifest/status.def \
 src/manifest/layer.def src/wire/frame.h
src/client/tool_proxy.h:
src/cell/tools.h:
src/job/tool_call.h:
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/client/http.h:
src/wire/answer.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/policy/rules.h:
src/policy/limits.def:
src/job/job_options.def:
src/base/fd.h:
src/base/log.h:
src/base/clock.h:
src/client/job_result.h:
src/manifest/manifest.h:
src/manifest/changes.h:
src/manifest/samples.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/manifest/status.def:
src/manifest/layer.def:
src/wire/frame.h:
