build/obj/cell/supervise/held.o: src/cell/supervise/held.c \
 src/cell/supervise/held.h src/base/fd.h src/base/buf.h src/base/error.h \
 src/base/clock.h src/base/status.h src/inside/weak.h
src/cell/supervise/held.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
src/base/clock.h:
src/base/status.h:
src/inside/weak.h:
