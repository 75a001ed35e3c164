build/obj/cli/policy_explain.o: src/cli/policy_explain.c src/cli/policy.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/buf.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/base/units.h src/cell/card.h src/cell/filter.h \
 src/manifest/denial.h src/manifest/denial.def src/policy/calls.h \
 src/inside/plan.h src/inside/weak.h src/wire/handover.h \
 src/base/version.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/job/job_options.def src/policy/tighten.h
src/cli/policy.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/base/units.h:
src/cell/card.h:
src/cell/filter.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/policy/calls.h:
src/inside/plan.h:
src/inside/weak.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/job/job_options.def:
src/policy/tighten.h:
