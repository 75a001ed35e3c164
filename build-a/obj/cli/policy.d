build/obj/cli/policy.o: src/cli/policy.c src/cli/policy.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/buf.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/card.h src/cell/policies.h src/cli/cli.h \
 src/base/log.h src/policy/options.h src/policy/redact.h
src/cli/policy.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/card.h:
src/cell/policies.h:
src/cli/cli.h:
src/base/log.h:
src/policy/options.h:
src/policy/redact.h:
