build/obj/daemon/process/trees.o: src/daemon/process/trees.c \
 src/daemon/process/trees.h src/base/error.h src/base/hash.h \
 src/base/fd.h src/base/buf.h src/base/log.h src/cell/tree.h \
 src/cell/tree_stamps.h
src/daemon/process/trees.h:
src/base/error.h:
src/base/hash.h:
src/base/fd.h:
src/base/buf.h:
src/base/log.h:
src/cell/tree.h:
src/cell/tree_stamps.h:
