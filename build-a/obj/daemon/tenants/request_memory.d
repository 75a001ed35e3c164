build/obj/daemon/tenants/request_memory.o: \
 src/daemon/tenants/request_memory.c src/daemon/tenants/request_memory.h \
 src/daemon/tenants/tenant.h src/daemon/config/config.h src/base/hash.h \
 src/policy/options.h src/policy/policy.h src/json/json.h src/base/buf.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/tighten.h
src/daemon/tenants/request_memory.h:
src/daemon/tenants/tenant.h:
src/daemon/config/config.h:
src/base/hash.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/policy/tighten.h:
