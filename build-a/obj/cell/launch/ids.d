build/obj/cell/launch/ids.o: src/cell/launch/ids.c src/cell/ids.h \
 src/base/error.h src/base/fd.h src/base/buf.h src/base/kernel.h \
 src/base/units.h
src/cell/ids.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/base/kernel.h:
src/base/units.h:
