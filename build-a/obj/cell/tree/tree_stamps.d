build/obj/cell/tree/tree_stamps.o: src/cell/tree/tree_stamps.c \
 src/cell/tree_stamps.h src/base/buf.h src/base/error.h src/cell/tree.h \
 src/base/hash.h src/base/fd.h
src/cell/tree_stamps.h:
src/base/buf.h:
src/base/error.h:
src/cell/tree.h:
src/base/hash.h:
src/base/fd.h:
