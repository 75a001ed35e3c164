build/obj/batch/job_ids.o: src/batch/job_ids.c src/batch/job_ids.h \
 src/base/error.h src/base/fd.h src/base/buf.h src/base/hash.h
src/batch/job_ids.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/base/hash.h:
