build/obj/cell/supervise/figures.o: src/cell/supervise/figures.c \
 src/cell/supervise/figures.h src/manifest/figure.h src/base/buf.h \
 src/base/error.h src/base/hash.h src/base/fd.h src/base/kernel.h \
 src/cell/supervise/supervise.h src/cell/cgroup.h src/manifest/usage.h \
 src/manifest/usage.def src/policy/options.h src/policy/policy.h \
 src/json/json.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/seccomp/listener.h \
 src/cell/seccomp/learn.h src/manifest/denial.h src/manifest/denial.def \
 src/cell/supervise/held.h src/cell/supervise/input_copies.h \
 src/manifest/manifest.h src/job/job.h src/policy/interface.h \
 src/job/job_options.def src/job/tool_call.h src/manifest/changes.h \
 src/manifest/samples.h src/manifest/status.def src/manifest/layer.def \
 src/cell/tools.h src/wire/frame.h src/wire/handover.h src/base/version.h
src/cell/supervise/figures.h:
src/manifest/figure.h:
src/base/buf.h:
src/base/error.h:
src/base/hash.h:
src/base/fd.h:
src/base/kernel.h:
src/cell/supervise/supervise.h:
src/cell/cgroup.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/seccomp/listener.h:
src/cell/seccomp/learn.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/cell/supervise/held.h:
src/cell/supervise/input_copies.h:
src/manifest/manifest.h:
src/job/job.h:
src/policy/interface.h:
src/job/job_options.def:
src/job/tool_call.h:
src/manifest/changes.h:
src/manifest/samples.h:
src/manifest/status.def:
src/manifest/layer.def:
src/cell/tools.h:
src/wire/frame.h:
src/wire/handover.h:
src/base/version.h:
