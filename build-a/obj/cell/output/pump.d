build/obj/cell/output/pump.o: src/cell/output/pump.c \
 src/cell/output/pump.h src/base/error.h src/base/hash.h src/base/fd.h \
 src/base/buf.h src/base/clock.h
src/cell/output/pump.h:
src/base/error.h:
src/base/hash.h:
src/base/fd.h:
src/base/buf.h:
src/base/clock.h:
