build/obj/cli/session.o: src/cli/session.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/fd.h src/base/buf.h src/cell/session_talk.h \
 src/cell/session.h src/cell/run.h src/cell/cgroup.h src/manifest/usage.h \
 src/manifest/usage.def src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/json/json.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/cell/collect.h \
 src/manifest/figure.h src/manifest/manifest.h src/job/job.h \
 src/policy/interface.h src/job/job_options.def src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/status.def src/manifest/layer.def \
 src/cell/seccomp/learn.h src/cell/supervise/figures.h \
 src/policy/tighten.h src/cli/cancel.h src/cli/request.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/cell/session_talk.h:
src/cell/session.h:
src/cell/run.h:
src/cell/cgroup.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/collect.h:
src/manifest/figure.h:
src/manifest/manifest.h:
src/job/job.h:
src/policy/interface.h:
src/job/job_options.def:
src/job/tool_call.h:
src/manifest/changes.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/manifest/samples.h:
src/manifest/status.def:
src/manifest/layer.def:
src/cell/seccomp/learn.h:
src/cell/supervise/figures.h:
src/policy/tighten.h:
src/cli/cancel.h:
src/cli/request.h:
