build/obj/cli/cancel.o: src/cli/cancel.c src/cli/cancel.h \
 src/base/error.h src/base/fd.h src/base/buf.h
src/cli/cancel.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
