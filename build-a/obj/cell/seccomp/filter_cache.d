build/obj/cell/seccomp/filter_cache.o: src/cell/seccomp/filter_cache.c \
 src/cell/filter.h src/base/buf.h src/base/error.h src/manifest/denial.h \
 src/manifest/denial.def src/policy/calls.h src/policy/policy.h \
 src/base/hash.h src/json/json.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/base/fd.h
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
src/base/fd.h:
