build/obj/shim/guard/standin.o: src/shim/guard/standin.c \
 src/shim/guard/standin.h src/shim/harness/finding.h src/base/buf.h \
 src/json/lines.h src/shim/harness/py.h src/shim/guard/imports.h \
 src/shim/guard/rules.h src/policy/rules.h src/json/json.h \
 src/base/error.h src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def
src/shim/guard/standin.h:
src/shim/harness/finding.h:
src/base/buf.h:
src/json/lines.h:
src/shim/harness/py.h:
src/shim/guard/imports.h:
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
