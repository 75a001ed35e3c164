build/obj/daemon/ledger/print/asked.o: src/daemon/ledger/print/asked.c \
 src/daemon/ledger/print/report.h src/daemon/ledger/ledger.h \
 src/daemon/process/states.h src/daemon/tenants/tenant.h \
 src/daemon/config/config.h src/base/hash.h src/policy/options.h \
 src/policy/policy.h src/json/json.h src/base/buf.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/policy/tighten.h src/client/ask.h \
 src/client/http.h src/wire/answer.h src/json/names.h
src/daemon/ledger/print/report.h:
src/daemon/ledger/ledger.h:
src/daemon/process/states.h:
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
src/client/ask.h:
src/client/http.h:
src/wire/answer.h:
src/json/names.h:
