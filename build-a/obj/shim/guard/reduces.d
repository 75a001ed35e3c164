build/obj/shim/guard/reduces.o: src/shim/guard/reduces.c \
 src/shim/cpython/cpython.h src/shim/cpython/v3_11.h \
 src/shim/guard/reduces.h src/shim/harness/py.h
src/shim/cpython/cpython.h:
src/shim/cpython/v3_11.h:
src/shim/guard/reduces.h:
src/shim/harness/py.h:
