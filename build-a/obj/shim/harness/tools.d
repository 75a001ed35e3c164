build/obj/shim/harness/tools.o: src/shim/harness/tools.c \
 src/shim/harness/tools.h src/shim/harness/py.h src/shim/harness/frozen.h \
 src/shim/harness/pyjson.h src/shim/harness/wire.h src/wire/frame.h \
 src/base/buf.h src/base/error.h src/wire/handover.h src/base/version.h \
 src/job/job.h src/policy/interface.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/job/job_options.def src/json/scan.h
src/shim/harness/tools.h:
src/shim/harness/py.h:
src/shim/harness/frozen.h:
src/shim/harness/pyjson.h:
src/shim/harness/wire.h:
src/wire/frame.h:
src/base/buf.h:
src/base/error.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
src/json/scan.h:
