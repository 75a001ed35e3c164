build/obj/shim/init_image.o: src/shim/init_image.c src/shim/init_image.h \
 src/base/error.h src/base/fd.h src/base/buf.h build/gen/init.inc
src/shim/init_image.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
build/gen/init.inc:
