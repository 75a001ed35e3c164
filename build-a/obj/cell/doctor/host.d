build/obj/cell/doctor/host.o: src/cell/doctor/host.c src/cell/host.h \
 src/base/status.h src/cell/doctor/host_checks.h src/cell/cgroup.h \
 src/base/error.h src/manifest/usage.h src/manifest/usage.def \
 src/policy/options.h src/policy/policy.h src/base/hash.h src/json/json.h \
 src/base/buf.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/ids.h
src/cell/host.h:
src/base/status.h:
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
src/cell/ids.h:
