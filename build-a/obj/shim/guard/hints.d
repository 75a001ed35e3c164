build/obj/shim/guard/hints.o: src/shim/guard/hints.c \
 src/shim/guard/hints.h src/shim/guard/rules.h src/policy/rules.h \
 src/json/json.h src/base/buf.h src/base/error.h src/wire/handover.h \
 src/base/version.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/policy/policy.h src/base/hash.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/job/job_options.def src/shim/harness/words.h
src/shim/guard/hints.h:
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
src/shim/harness/words.h:
