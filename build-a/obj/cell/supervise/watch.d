build/obj/cell/supervise/watch.o: src/cell/supervise/watch.c \
 src/cell/supervise/watch.h src/cell/supervise/held.h src/base/fd.h \
 src/base/buf.h src/base/error.h src/base/status.h
src/cell/supervise/watch.h:
src/cell/supervise/held.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
src/base/status.h:
