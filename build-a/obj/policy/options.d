build/obj/policy/options.o: src/policy/options.c src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/buf.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/base/units.h src/json/names.h
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/base/units.h:
src/json/names.h:
