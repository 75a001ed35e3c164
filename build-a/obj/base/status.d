build/obj/base/status.o: src/base/status.c src/base/status.h \
 src/base/fd.h src/base/buf.h src/base/error.h
src/base/status.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
