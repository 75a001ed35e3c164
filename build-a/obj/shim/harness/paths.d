build/obj/shim/harness/paths.o: src/shim/harness/paths.c \
 src/shim/harness/paths.h src/base/fd.h src/base/buf.h src/base/error.h
src/shim/harness/paths.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
