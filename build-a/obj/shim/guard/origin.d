build/obj/shim/guard/origin.o: src/shim/guard/origin.c \
 src/shim/cpython/cpython.h src/shim/cpython/v3_11.h \
 src/shim/guard/origin.h src/shim/harness/py.h src/shim/guard/frames.h \
 src/base/buf.h src/shim/guard/reach.h src/base/fd.h src/base/error.h
src/shim/cpython/cpython.h:
src/shim/cpython/v3_11.h:
src/shim/guard/origin.h:
src/shim/harness/py.h:
src/shim/guard/frames.h:
src/base/buf.h:
src/shim/guard/reach.h:
src/base/fd.h:
src/base/error.h:
