build/obj/cell/output/seal.o: src/cell/output/seal.c src/cell/seal.h \
 src/base/error.h src/base/hash.h src/base/fd.h src/base/buf.h \
 src/base/state.h
src/cell/seal.h:
src/base/error.h:
src/base/hash.h:
src/base/fd.h:
src/base/buf.h:
src/base/state.h:
