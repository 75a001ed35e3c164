build/obj/shim/warmup.o: src/shim/warmup.c src/shim/warmup.h \
 src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/shim/guard/guard.h \
 src/shim/harness/finding.h src/json/lines.h src/shim/guard/rules.h \
 src/shim/harness/py.h src/shim/harness/ending.h \
 src/shim/harness/results.h src/shim/harness/report.h \
 src/shim/harness/outcome.h src/shim/harness/text.h src/shim/source.h
src/shim/warmup.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/base/buf.h:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
src/shim/guard/guard.h:
src/shim/harness/finding.h:
src/json/lines.h:
src/shim/guard/rules.h:
src/shim/harness/py.h:
src/shim/harness/ending.h:
src/shim/harness/results.h:
src/shim/harness/report.h:
src/shim/harness/outcome.h:
src/shim/harness/text.h:
src/shim/source.h:
