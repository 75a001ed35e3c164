build/obj/shim/harness/outcome.o: src/shim/harness/outcome.c \
 src/shim/harness/outcome.h src/policy/rules.h src/json/json.h \
 src/base/buf.h src/base/error.h src/shim/harness/py.h \
 src/shim/harness/advice.h src/wire/handover.h src/base/version.h \
 src/job/job.h src/policy/interface.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/shim/harness/frozen.h \
 src/base/fd.h
src/shim/harness/outcome.h:
src/policy/rules.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/shim/harness/py.h:
src/shim/harness/advice.h:
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
src/shim/harness/frozen.h:
src/base/fd.h:
