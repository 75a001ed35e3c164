build/obj/cell/doctor/decoys.o: src/cell/doctor/decoys.c \
 src/cell/doctor/decoys.h src/base/error.h src/base/clock.h src/base/fd.h \
 src/base/buf.h
src/cell/doctor/decoys.h:
src/base/error.h:
src/base/clock.h:
src/base/fd.h:
src/base/buf.h:
