build/obj/cell/tree/tree_check.o: src/cell/tree/tree_check.c \
 src/cell/tree_check.h src/base/error.h src/cell/tree.h src/base/buf.h \
 src/base/hash.h src/policy/policy.h src/json/json.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def src/base/fd.h \
 src/cell/tree_stamps.h
src/cell/tree_check.h:
src/base/error.h:
src/cell/tree.h:
src/base/buf.h:
src/base/hash.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/base/fd.h:
src/cell/tree_stamps.h:
