build/obj/cell/doctor/host_kernel.o: src/cell/doctor/host_kernel.c \
 src/cell/doctor/host_checks.h src/cell/cgroup.h src/base/error.h \
 src/manifest/usage.h src/manifest/usage.def src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/buf.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/host.h src/cell/ids.h src/base/fd.h \
 src/base/kernel.h src/cell/doctor/probe.h src/cell/filter.h \
 src/manifest/denial.h src/manifest/denial.def src/policy/calls.h
src/cell/doctor/host_checks.h:
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
src/cell/host.h:
src/cell/ids.h:
src/base/fd.h:
src/base/kernel.h:
src/cell/doctor/probe.h:
src/cell/filter.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/policy/calls.h:
