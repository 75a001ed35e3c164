build/obj/shim/guard/guard.o: src/shim/guard/guard.c \
 src/shim/guard/guard.h src/shim/harness/finding.h src/base/buf.h \
 src/json/lines.h src/shim/guard/rules.h src/policy/rules.h \
 src/json/json.h src/base/error.h src/wire/handover.h src/base/version.h \
 src/job/job.h src/policy/interface.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/shim/harness/py.h \
 src/shim/guard/audit.h src/shim/guard/builtins.h src/shim/guard/denial.h \
 src/shim/guard/imports.h src/shim/guard/modules.h \
 src/shim/guard/origin.h src/shim/guard/pointers.h src/shim/guard/reach.h \
 src/shim/guard/reduces.h src/shim/harness/frozen.h
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
src/shim/harness/py.h:
src/shim/guard/audit.h:
src/shim/guard/builtins.h:
src/shim/guard/denial.h:
src/shim/guard/imports.h:
src/shim/guard/modules.h:
src/shim/guard/origin.h:
src/shim/guard/pointers.h:
src/shim/guard/reach.h:
src/shim/guard/reduces.h:
src/shim/harness/frozen.h:
