build/obj/cell/launch/key.o: src/cell/launch/key.c src/cell/key.h \
 src/base/buf.h src/base/error.h src/base/fd.h
src/cell/key.h:
src/base/buf.h:
src/base/error.h:
src/base/fd.h:
