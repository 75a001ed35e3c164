build/obj/cell/tree/tree.o: src/cell/tree/tree.c src/cell/tree.h \
 src/base/buf.h src/base/error.h src/base/hash.h src/base/fd.h \
 src/base/state.h src/cell/tree_stamps.h
src/cell/tree.h:
src/base/buf.h:
src/base/error.h:
src/base/hash.h:
src/base/fd.h:
src/base/state.h:
src/cell/tree_stamps.h:
