build/obj/cli/workspace.o: src/cli/workspace.c src/cli/cli.h \
 src/base/log.h src/base/error.h src/base/arguments.h src/base/fd.h \
 src/base/buf.h src/base/kernel.h src/base/plain.h src/cell/seal.h \
 src/base/hash.h src/cell/workspace.h src/cell/collect.h \
 src/manifest/figure.h src/manifest/manifest.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/json/json.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/job/tool_call.h \
 src/manifest/changes.h src/manifest/denial.h src/manifest/denial.def \
 src/manifest/samples.h src/manifest/usage.h src/manifest/usage.def \
 src/manifest/status.def src/manifest/layer.def src/cli/workspace.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/arguments.h:
src/base/fd.h:
src/base/buf.h:
src/base/kernel.h:
src/base/plain.h:
src/cell/seal.h:
src/base/hash.h:
src/cell/workspace.h:
src/cell/collect.h:
src/manifest/figure.h:
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
src/cli/workspace.h:
