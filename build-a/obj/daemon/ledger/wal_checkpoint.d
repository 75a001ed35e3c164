build/obj/daemon/ledger/wal_checkpoint.o: \
 src/daemon/ledger/wal_checkpoint.c src/daemon/ledger/wal_checkpoint.h \
 src/base/log.h src/base/error.h src/daemon/ledger/ledger.h \
 src/daemon/process/states.h src/daemon/tenants/tenant.h \
 src/daemon/config/config.h src/base/hash.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/buf.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/policy/tighten.h src/daemon/process/rights.h \
 src/daemon/process/sandbox.h
src/daemon/ledger/wal_checkpoint.h:
src/base/log.h:
src/base/error.h:
src/daemon/ledger/ledger.h:
src/daemon/process/states.h:
src/daemon/tenants/tenant.h:
src/daemon/config/config.h:
src/base/hash.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/base/buf.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/policy/tighten.h:
src/daemon/process/rights.h:
src/daemon/process/sandbox.h:
