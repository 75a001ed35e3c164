build/obj/shim/zygote.o: src/shim/zygote.c src/shim/zygote.h \
 src/wire/handover.h src/base/version.h src/job/job.h \
 src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/base/fd.h \
 src/base/kernel.h src/base/packet.h src/inside/park.h src/inside/plan.h \
 src/inside/weak.h src/policy/calls.h src/shim/copyable.h \
 src/shim/guard/builtins.h src/shim/harness/py.h src/shim/guest.h \
 src/shim/harness/feed.h src/shim/harness/frozen.h \
 src/shim/harness/pyjson.h src/shim/harness/wire.h src/wire/frame.h \
 src/shim/init_image.h src/shim/lock.h src/shim/prefault.h \
 src/shim/warmup.h src/shim/settle.h src/shim/start.h
src/shim/zygote.h:
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
src/base/fd.h:
src/base/kernel.h:
src/base/packet.h:
src/inside/park.h:
src/inside/plan.h:
src/inside/weak.h:
src/policy/calls.h:
src/shim/copyable.h:
src/shim/guard/builtins.h:
src/shim/harness/py.h:
src/shim/guest.h:
src/shim/harness/feed.h:
src/shim/harness/frozen.h:
src/shim/harness/pyjson.h:
src/shim/harness/wire.h:
src/wire/frame.h:
src/shim/init_image.h:
src/shim/lock.h:
src/shim/prefault.h:
src/shim/warmup.h:
src/shim/settle.h:
src/shim/start.h:
