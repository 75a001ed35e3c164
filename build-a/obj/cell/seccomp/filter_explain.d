build/obj/cell/seccomp/filter_explain.o: \
 src/cell/seccomp/filter_explain.c src/cell/filter.h src/base/buf.h \
 src/base/error.h src/manifest/denial.h src/manifest/denial.def \
 src/policy/calls.h src/policy/policy.h src/base/hash.h src/json/json.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/syscalls.h
src/cell/filter.h:
src/base/buf.h:
src/base/error.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/policy/calls.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/policy/syscalls.h:
