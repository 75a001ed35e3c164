build/obj/base/fd.o: src/base/fd.c src/base/fd.h src/base/buf.h \
 src/base/error.h
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
