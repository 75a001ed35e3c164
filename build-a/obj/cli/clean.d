build/obj/cli/clean.o: src/cli/clean.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/cell/cgroup.h src/manifest/usage.h \
 src/manifest/usage.def src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/json/json.h src/base/buf.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/cell/policy_store.h src/cell/steps.h src/mcp/store.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/cell/cgroup.h:
src/manifest/usage.h:
src/manifest/usage.def:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/policy_store.h:
src/cell/steps.h:
src/mcp/store.h:
