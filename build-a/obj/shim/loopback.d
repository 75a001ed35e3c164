build/obj/shim/loopback.o: src/shim/loopback.c src/inside/plan.h \
 src/base/error.h src/inside/weak.h src/policy/policy.h src/base/hash.h \
 src/json/json.h src/base/buf.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/wire/handover.h \
 src/base/version.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/job/job_options.def src/base/fd.h
src/inside/plan.h:
src/base/error.h:
src/inside/weak.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/job/job_options.def:
src/base/fd.h:
