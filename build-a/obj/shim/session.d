build/obj/shim/session.o: src/shim/session.c src/shim/session.h \
 src/shim/harness/py.h src/base/fd.h src/base/buf.h src/base/error.h \
 src/shim/guard/guard.h src/shim/harness/finding.h src/json/lines.h \
 src/shim/guard/rules.h src/policy/rules.h src/json/json.h \
 src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def \
 src/shim/harness/deadline.h src/shim/harness/ending.h \
 src/shim/harness/feed.h src/shim/harness/files.h \
 src/shim/harness/frozen.h src/shim/harness/reject.h \
 src/shim/harness/results.h src/shim/harness/report.h \
 src/shim/harness/outcome.h src/shim/harness/text.h \
 src/shim/harness/tools.h src/shim/harness/wire.h src/wire/frame.h \
 src/shim/openmp.h src/shim/source.h
src/shim/session.h:
src/shim/harness/py.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
src/shim/guard/guard.h:
src/shim/harness/finding.h:
src/json/lines.h:
src/shim/guard/rules.h:
src/policy/rules.h:
src/json/json.h:
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
src/shim/harness/deadline.h:
src/shim/harness/ending.h:
src/shim/harness/feed.h:
src/shim/harness/files.h:
src/shim/harness/frozen.h:
src/shim/harness/reject.h:
src/shim/harness/results.h:
src/shim/harness/report.h:
src/shim/harness/outcome.h:
src/shim/harness/text.h:
src/shim/harness/tools.h:
src/shim/harness/wire.h:
src/wire/frame.h:
src/shim/openmp.h:
src/shim/source.h:
