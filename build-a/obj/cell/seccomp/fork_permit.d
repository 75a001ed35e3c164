build/obj/cell/seccomp/fork_permit.o: src/cell/seccomp/fork_permit.c \
 src/cell/seccomp/fork_permit.h src/cell/seccomp/listener.h \
 src/cell/seccomp/learn.h src/policy/policy.h src/base/hash.h \
 src/json/json.h src/base/buf.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/manifest/denial.h src/manifest/denial.def src/base/status.h
src/cell/seccomp/fork_permit.h:
src/cell/seccomp/listener.h:
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
src/manifest/denial.h:
src/manifest/denial.def:
src/base/status.h:
