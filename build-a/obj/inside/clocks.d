build/obj/inside/clocks.o: src/inside/clocks.c src/inside/clocks.h \
 src/base/error.h src/base/fd.h src/base/buf.h src/base/kernel.h \
 src/inside/weak.h
src/inside/clocks.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/base/kernel.h:
src/inside/weak.h:
