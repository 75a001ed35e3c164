build/obj/daemon/queue/figures.o: src/daemon/queue/figures.c \
 src/daemon/queue/figures.h src/base/buf.h src/manifest/figure.h \
 src/base/error.h src/base/hash.h src/base/array.h src/base/fd.h
src/daemon/queue/figures.h:
src/base/buf.h:
src/manifest/figure.h:
src/base/error.h:
src/base/hash.h:
src/base/array.h:
src/base/fd.h:
