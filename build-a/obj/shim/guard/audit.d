build/obj/shim/guard/audit.o: src/shim/guard/audit.c \
 src/shim/guard/audit.h src/shim/guard/attributes.h src/shim/harness/py.h \
 src/shim/guard/denial.h src/shim/guard/dynamic.h src/shim/guard/events.h \
 src/shim/guard/frames.h src/base/buf.h src/shim/guard/hints.h \
 src/shim/guard/imports.h src/shim/guard/modules.h \
 src/shim/guard/picklable.h src/shim/guard/rules.h src/policy/rules.h \
 src/json/json.h src/base/error.h src/wire/handover.h src/base/version.h \
 src/job/job.h src/policy/interface.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/shim/guard/zones.h \
 src/shim/harness/paths.h
src/shim/guard/audit.h:
src/shim/guard/attributes.h:
src/shim/harness/py.h:
src/shim/guard/denial.h:
src/shim/guard/dynamic.h:
src/shim/guard/events.h:
src/shim/guard/frames.h:
src/base/buf.h:
src/shim/guard/hints.h:
src/shim/guard/imports.h:
src/shim/guard/modules.h:
src/shim/guard/picklable.h:
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
src/shim/guard/zones.h:
src/shim/harness/paths.h:
