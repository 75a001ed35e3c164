build/obj/cell/launch/policy_store.o: src/cell/launch/policy_store.c \
 src/cell/policy_store.h src/policy/policy.h src/base/hash.h \
 src/json/json.h src/base/buf.h src/base/error.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def src/base/fd.h \
 src/base/state.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/job/job_options.def
src/cell/policy_store.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/base/fd.h:
src/base/state.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/job/job_options.def:
