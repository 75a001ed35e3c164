build/obj/daemon/ledger/ledger.o: src/daemon/ledger/ledger.c \
 src/base/fd.h src/base/buf.h src/base/error.h \
 src/daemon/ledger/ledger_db.h src/daemon/ledger/ledger.h \
 src/daemon/process/states.h src/daemon/tenants/tenant.h \
 src/daemon/config/config.h src/base/hash.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/policy/tighten.h
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
src/daemon/ledger/ledger_db.h:
src/daemon/ledger/ledger.h:
src/daemon/process/states.h:
src/daemon/tenants/tenant.h:
src/daemon/config/config.h:
src/base/hash.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/policy/tighten.h:
