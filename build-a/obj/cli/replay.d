build/obj/cli/replay.o: src/cli/replay.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/arguments.h src/base/fd.h src/base/buf.h \
 src/base/plain.h src/base/utf8.h src/cell/policies.h src/policy/policy.h \
 src/base/hash.h src/json/json.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/cell/record.h \
 src/manifest/saved_code.h src/manifest/manifest.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/job/job_options.def \
 src/job/tool_call.h src/manifest/changes.h src/manifest/denial.h \
 src/manifest/denial.def src/manifest/samples.h src/manifest/usage.h \
 src/manifest/usage.def src/manifest/status.def src/manifest/layer.def \
 src/cell/run.h src/cell/cgroup.h src/cell/collect.h \
 src/manifest/figure.h src/cell/seccomp/learn.h \
 src/cell/supervise/figures.h src/cell/tree.h src/cli/cancel.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/arguments.h:
src/base/fd.h:
src/base/buf.h:
src/base/plain.h:
src/base/utf8.h:
src/cell/policies.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/record.h:
src/manifest/saved_code.h:
src/manifest/manifest.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
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
src/cell/run.h:
src/cell/cgroup.h:
src/cell/collect.h:
src/manifest/figure.h:
src/cell/seccomp/learn.h:
src/cell/supervise/figures.h:
src/cell/tree.h:
src/cli/cancel.h:
