build/obj/policy/tool.o: src/policy/tool.c src/policy/tool.h \
 src/json/schema.h src/json/json.h src/base/buf.h src/base/error.h \
 src/json/names.h src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/policy/rules.h src/policy/limits.def
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/json/names.h:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/policy/rules.h:
src/policy/limits.def:
