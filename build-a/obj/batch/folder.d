build/obj/batch/folder.o: src/batch/folder.c src/batch/folder.h \
 src/base/buf.h src/base/error.h src/batch/entry.h src/base/hash.h \
 src/base/fd.h
src/batch/folder.h:
src/base/buf.h:
src/base/error.h:
src/batch/entry.h:
src/base/hash.h:
src/base/fd.h:
