build/obj/cell/supervise/supervise.o: src/cell/supervise/supervise.c \
 src/cell/supervise/supervise.h src/cell/cgroup.h src/base/error.h \
 src/manifest/usage.h src/manifest/usage.def src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/buf.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/seccomp/listener.h \
 src/cell/seccomp/learn.h src/manifest/denial.h src/manifest/denial.def \
 src/cell/supervise/figures.h src/manifest/figure.h \
 src/cell/supervise/held.h src/cell/supervise/input_copies.h \
 src/manifest/manifest.h src/job/job.h src/policy/interface.h \
 src/job/job_options.def src/job/tool_call.h src/manifest/changes.h \
 src/manifest/samples.h src/manifest/status.def src/manifest/layer.def \
 src/cell/tools.h src/wire/frame.h src/wire/handover.h src/base/version.h \
 src/base/fd.h src/base/kernel.h src/base/clock.h \
 src/cell/supervise/control.h src/cell/supervise/loop.h \
 src/cell/supervise/output_relay.h src/manifest/output_filter.h \
 src/policy/redact.h src/cell/supervise/enforce.h \
 src/cell/supervise/output_pipe.h src/cell/supervise/early_exit.h
src/cell/supervise/supervise.h:
src/cell/cgroup.h:
src/base/error.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/seccomp/listener.h:
src/cell/seccomp/learn.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/cell/supervise/figures.h:
src/manifest/figure.h:
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
src/base/fd.h:
src/base/kernel.h:
src/base/clock.h:
src/cell/supervise/control.h:
src/cell/supervise/loop.h:
src/cell/supervise/output_relay.h:
src/manifest/output_filter.h:
src/policy/redact.h:
src/cell/supervise/enforce.h:
src/cell/supervise/output_pipe.h:
src/cell/supervise/early_exit.h:
