build/obj/cell/session/session_files.o: src/cell/session/session_files.c \
 src/cell/session/session_files.h src/cell/session.h src/cell/run.h \
 src/cell/cgroup.h src/base/error.h src/manifest/usage.h \
 src/manifest/usage.def src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/json/json.h src/base/buf.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/cell/collect.h src/manifest/figure.h src/manifest/manifest.h \
 src/job/job.h src/policy/interface.h src/job/job_options.def \
 src/job/tool_call.h src/manifest/changes.h src/manifest/denial.h \
 src/manifest/denial.def src/manifest/samples.h src/manifest/status.def \
 src/manifest/layer.def src/cell/seccomp/learn.h \
 src/cell/supervise/figures.h src/base/clock.h src/base/fd.h \
 src/base/kernel.h src/base/units.h src/base/utf8.h \
 src/cell/session/session_parts.h src/cell/launch/launch.h src/cell/ids.h \
 src/cell/supervise/input_copies.h src/cell/supervise/supervise.h \
 src/cell/seccomp/listener.h src/cell/supervise/held.h src/cell/tools.h \
 src/wire/frame.h src/wire/handover.h src/base/version.h src/cell/tree.h \
 src/cell/workspace.h src/inside/plan.h src/inside/weak.h \
 src/cell/seccomp/fork_permit.h src/cell/supervise/loop.h \
 src/cell/supervise/output_relay.h src/manifest/output_filter.h \
 src/policy/redact.h src/cell/supervise/watch.h
src/cell/session/session_files.h:
src/cell/session.h:
src/cell/run.h:
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
src/base/clock.h:
src/base/fd.h:
src/base/kernel.h:
src/base/units.h:
src/base/utf8.h:
src/cell/session/session_parts.h:
src/cell/launch/launch.h:
src/cell/ids.h:
src/cell/supervise/input_copies.h:
src/cell/supervise/supervise.h:
src/cell/seccomp/listener.h:
src/cell/supervise/held.h:
src/cell/tools.h:
src/wire/frame.h:
src/wire/handover.h:
src/base/version.h:
src/cell/tree.h:
src/cell/workspace.h:
src/inside/plan.h:
src/inside/weak.h:
src/cell/seccomp/fork_permit.h:
src/cell/supervise/loop.h:
src/cell/supervise/output_relay.h:
src/manifest/output_filter.h:
src/policy/redact.h:
src/cell/supervise/watch.h:
