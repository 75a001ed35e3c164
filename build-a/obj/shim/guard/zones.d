build/obj/shim/guard/zones.o: src/shim/guard/zones.c \
 src/shim/guard/zones.h src/shim/guard/rules.h src/policy/rules.h \
 src/json/json.h src/base/buf.h src/base/error.h src/wire/handover.h \
 src/base/version.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/policy/policy.h src/base/hash.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/job/job_options.def src/shim/harness/paths.h
src/shim/guard/zones.h:
src/shim/guard/rules.h:
src/policy/rules.h:
src/json/json.h:
src/base/buf.h:
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
src/shim/harness/paths.h:
