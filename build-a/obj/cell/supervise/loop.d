build/obj/cell/supervise/loop.o: src/cell/supervise/loop.c \
 src/cell/supervise/loop.h src/cell/supervise/output_relay.h \
 src/manifest/output_filter.h src/manifest/manifest.h src/base/hash.h \
 src/job/job.h src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/job/job_options.def src/job/tool_call.h src/manifest/changes.h \
 src/manifest/denial.h src/manifest/denial.def src/manifest/samples.h \
 src/manifest/usage.h src/manifest/usage.def src/manifest/status.def \
 src/manifest/layer.def src/policy/redact.h \
 src/cell/supervise/supervise.h src/cell/cgroup.h \
 src/cell/seccomp/listener.h src/cell/seccomp/learn.h \
 src/cell/supervise/figures.h src/manifest/figure.h \
 src/cell/supervise/held.h src/cell/supervise/input_copies.h \
 src/cell/tools.h src/wire/frame.h src/wire/handover.h src/base/version.h \
 src/base/fd.h src/base/kernel.h src/base/clock.h \
 src/cell/supervise/watch.h src/inside/weak.h
src/cell/supervise/loop.h:
src/cell/supervise/output_relay.h:
src/manifest/output_filter.h:
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
src/policy/redact.h:
src/cell/supervise/supervise.h:
src/cell/cgroup.h:
src/cell/seccomp/listener.h:
src/cell/seccomp/learn.h:
src/cell/supervise/figures.h:
src/manifest/figure.h:
src/cell/supervise/held.h:
src/cell/supervise/input_copies.h:
src/cell/tools.h:
src/wire/frame.h:
src/wire/handover.h:
src/base/version.h:
src/base/fd.h:
src/base/kernel.h:
src/base/clock.h:
src/cell/supervise/watch.h:
src/inside/weak.h:
