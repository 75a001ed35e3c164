build/obj/batch/reader.o: src/batch/reader.c src/batch/reader.h \
 src/base/buf.h src/base/error.h src/base/hash.h src/base/fd.h
src/batch/reader.h:
src/base/buf.h:
src/base/error.h:
src/base/hash.h:
src/base/fd.h:
