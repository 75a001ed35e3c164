build/obj/cell/cgroup/cgroup_usage.o: src/cell/cgroup/cgroup_usage.c \
 src/cell/cgroup.h src/base/error.h src/manifest/usage.h \
 src/manifest/usage.def src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/json/json.h src/base/buf.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def src/base/fd.h
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
src/base/fd.h:
