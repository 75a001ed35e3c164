build/obj/inside/devices.o: src/inside/devices.c src/inside/devices.h \
 src/base/error.h src/base/fd.h src/base/buf.h src/base/kernel.h \
 src/inside/fs.h src/inside/weak.h
src/inside/devices.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/base/kernel.h:
src/inside/fs.h:
src/inside/weak.h:
