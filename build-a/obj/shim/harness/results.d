build/obj/shim/harness/results.o: src/shim/harness/results.c \
 src/shim/harness/results.h src/shim/harness/report.h \
 src/shim/harness/outcome.h src/policy/rules.h src/json/json.h \
 src/base/buf.h src/base/error.h src/shim/harness/py.h \
 src/shim/harness/text.h src/wire/handover.h src/base/version.h \
 src/job/job.h src/policy/interface.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def \
 src/shim/harness/deadline.h src/shim/harness/frozen.h \
 src/shim/harness/pyjson.h
src/shim/harness/results.h:
src/shim/harness/report.h:
src/shim/harness/outcome.h:
src/policy/rules.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/shim/harness/py.h:
src/shim/harness/text.h:
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
src/shim/harness/deadline.h:
src/shim/harness/frozen.h:
src/shim/harness/pyjson.h:
