build/obj/cell/doctor/probe.o: src/cell/doctor/probe.c \
 src/cell/doctor/probe.h src/base/buf.h src/cell/cgroup.h \
 src/base/error.h src/manifest/usage.h src/manifest/usage.def \
 src/policy/options.h src/policy/policy.h src/base/hash.h src/json/json.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/ids.h src/base/fd.h src/base/kernel.h \
 src/inside/cores.h src/inside/plan.h src/inside/weak.h \
 src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/job/job_options.def
src/cell/doctor/probe.h:
src/base/buf.h:
src/cell/cgroup.h:
src/base/error.h:
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
src/cell/ids.h:
src/base/fd.h:
src/base/kernel.h:
src/inside/cores.h:
src/inside/plan.h:
src/inside/weak.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/job/job_options.def:
