build/obj/shim/harness/wire.o: src/shim/harness/wire.c \
 src/shim/harness/wire.h src/wire/frame.h src/base/buf.h src/base/error.h \
 src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/base/hash.h src/json/json.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/job/job_options.def \
 src/base/fd.h src/base/packet.h
src/shim/harness/wire.h:
src/wire/frame.h:
src/base/buf.h:
src/base/error.h:
src/wire/handover.h:
src/base/version.h:
src/job/job.h:
src/policy/interface.h:
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
src/base/packet.h:
