build/obj/base/state.o: src/base/state.c src/base/state.h \
 src/base/error.h src/base/fd.h src/base/buf.h
src/base/state.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
