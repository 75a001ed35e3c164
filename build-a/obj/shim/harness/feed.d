build/obj/shim/harness/feed.o: src/shim/harness/feed.c \
 src/shim/harness/feed.h src/base/error.h src/wire/handover.h \
 src/base/version.h src/job/job.h src/policy/interface.h src/base/buf.h \
 src/policy/options.h src/policy/policy.h src/base/hash.h src/json/json.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/base/fd.h \
 src/shim/harness/frozen.h src/shim/harness/py.h \
 src/shim/harness/pyjson.h src/shim/harness/wire.h src/wire/frame.h
src/shim/harness/feed.h:
src/base/error.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
src/base/buf.h:
src/policy/options.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
src/base/fd.h:
src/shim/harness/frozen.h:
src/shim/harness/py.h:
src/shim/harness/pyjson.h:
src/shim/harness/wire.h:
src/wire/frame.h:
