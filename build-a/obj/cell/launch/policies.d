build/obj/cell/launch/policies.o: src/cell/launch/policies.c \
 src/cell/policies.h src/policy/policy.h src/base/hash.h src/json/json.h \
 src/base/buf.h src/base/error.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/base/fd.h src/base/state.h
src/cell/policies.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/base/fd.h:
src/base/state.h:
