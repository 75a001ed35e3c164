build/obj/shim/guard/transform.o: src/shim/guard/transform.c \
 src/shim/guard/tree.h src/shim/cpython/cpython.h \
 src/shim/cpython/v3_11.h src/shim/harness/py.h src/shim/guard/guard.h \
 src/shim/harness/finding.h src/base/buf.h src/json/lines.h \
 src/shim/guard/rules.h src/policy/rules.h src/json/json.h \
 src/base/error.h src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def
src/shim/guard/tree.h:
src/shim/cpython/cpython.h:
src/shim/cpython/v3_11.h:
src/shim/harness/py.h:
src/shim/guard/guard.h:
src/shim/harness/finding.h:
src/base/buf.h:
src/json/lines.h:
src/shim/guard/rules.h:
src/policy/rules.h:
src/json/json.h:
src/base/error.h:
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
