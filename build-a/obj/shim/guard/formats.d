build/obj/shim/guard/formats.o: src/shim/guard/formats.c \
 src/shim/cpython/cpython.h src/shim/cpython/v3_11.h \
 src/shim/guard/formats.h src/shim/guard/attributes.h \
 src/shim/harness/py.h src/shim/guard/frames.h src/base/buf.h
src/shim/cpython/cpython.h:
src/shim/cpython/v3_11.h:
src/shim/guard/formats.h:
src/shim/guard/attributes.h:
src/shim/harness/py.h:
src/shim/guard/frames.h:
src/base/buf.h:
