build/obj/cell/doctor/card.o: src/cell/doctor/card.c src/cell/card.h \
 src/base/buf.h src/policy/policy.h src/base/hash.h src/json/json.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/base/fd.h src/base/log.h src/base/units.h \
 src/cell/tree.h src/policy/options.h src/policy/syscalls.h \
 src/policy/calls.h src/policy/tighten.h
src/cell/card.h:
src/base/buf.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/base/fd.h:
src/base/log.h:
src/base/units.h:
src/cell/tree.h:
src/policy/options.h:
src/policy/syscalls.h:
src/policy/calls.h:
src/policy/tighten.h:
