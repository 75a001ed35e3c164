build/obj/manifest/saved_code.o: src/manifest/saved_code.c \
 src/manifest/saved_code.h src/base/buf.h src/base/hash.h src/job/job.h \
 src/policy/interface.h src/policy/options.h src/policy/policy.h \
 src/json/json.h src/base/error.h src/policy/rules.h src/policy/tool.h \
 src/json/schema.h src/policy/limits.def src/job/job_options.def
src/manifest/saved_code.h:
src/base/buf.h:
src/base/hash.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/policy/policy.h:
src/json/json.h:
src/base/error.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/job/job_options.def:
