build/obj/client/upload.o: src/client/upload.c src/client/upload.h \
 src/job/job.h src/policy/interface.h src/base/buf.h src/policy/options.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/base/error.h \
 src/policy/rules.h src/policy/tool.h src/json/schema.h \
 src/policy/limits.def src/job/job_options.def src/base/fd.h \
 src/base/utf8.h
src/client/upload.h:
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
src/base/utf8.h:
