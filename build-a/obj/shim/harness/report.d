build/obj/shim/harness/report.o: src/shim/harness/report.c \
 src/shim/harness/report.h src/shim/harness/outcome.h src/policy/rules.h \
 src/json/json.h src/base/buf.h src/base/error.h src/shim/harness/py.h \
 src/shim/harness/text.h src/shim/harness/value.h src/shim/harness/wire.h \
 src/wire/frame.h src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def
src/shim/harness/report.h:
src/shim/harness/outcome.h:
src/policy/rules.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/shim/harness/py.h:
src/shim/harness/text.h:
src/shim/harness/value.h:
src/shim/harness/wire.h:
src/wire/frame.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
