build/obj/cli/policy_show.o: src/cli/policy_show.c src/cli/policy.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/buf.h \
 src/base/error.h src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/cell/policies.h src/cell/policy_store.h \
 src/cli/cli.h src/base/log.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/job/job_options.def src/base/arguments.h
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
src/cell/policies.h:
src/cell/policy_store.h:
src/cli/cli.h:
src/base/log.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/job/job_options.def:
src/base/arguments.h:
