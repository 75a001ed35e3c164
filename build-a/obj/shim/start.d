build/obj/shim/start.o: src/shim/start.c src/shim/start.h \
 src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/shim/harness/files.h \
 src/shim/harness/py.h src/shim/harness/frozen.h \
 src/shim/harness/pyjson.h src/shim/harness/value.h \
 src/shim/harness/text.h src/shim/harness/wire.h src/wire/frame.h \
 src/base/fd.h src/shim/guard/guard.h src/shim/harness/finding.h \
 src/json/lines.h src/shim/guard/rules.h src/shim/interp.h \
 src/shim/libc.h src/shim/lock.h
src/shim/start.h:
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
src/shim/harness/files.h:
src/shim/harness/py.h:
src/shim/harness/frozen.h:
src/shim/harness/pyjson.h:
src/shim/harness/value.h:
src/shim/harness/text.h:
src/shim/harness/wire.h:
src/wire/frame.h:
src/base/fd.h:
src/shim/guard/guard.h:
src/shim/harness/finding.h:
src/json/lines.h:
src/shim/guard/rules.h:
src/shim/interp.h:
src/shim/libc.h:
src/shim/lock.h:
