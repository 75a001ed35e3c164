build/obj/cell/seccomp/learn.o: src/cell/seccomp/learn.c \
 src/cell/seccomp/learn.h src/policy/policy.h src/base/hash.h \
 src/json/json.h src/base/buf.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/cell/filter.h src/manifest/denial.h src/manifest/denial.def \
 src/policy/calls.h src/policy/syscalls.h
src/cell/seccomp/learn.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/filter.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/policy/calls.h:
src/policy/syscalls.h:
