build/obj/inside/fs.o: src/inside/fs.c src/inside/fs.h src/base/error.h \
 src/base/fd.h src/base/buf.h src/base/kernel.h src/inside/weak.h
src/inside/fs.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/base/kernel.h:
src/inside/weak.h:
