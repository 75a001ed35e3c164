build/obj/cell/output/walk.o: src/cell/output/walk.c \
 src/cell/output/walk.h src/base/error.h src/base/kernel.h src/base/fd.h \
 src/base/buf.h
src/cell/output/walk.h:
src/base/error.h:
src/base/kernel.h:
src/base/fd.h:
src/base/buf.h:
