build/obj/shim/guard/tree.o: src/shim/guard/tree.c src/shim/guard/tree.h \
 src/shim/cpython/cpython.h src/shim/cpython/v3_11.h \
 src/shim/harness/py.h
src/shim/guard/tree.h:
src/shim/cpython/cpython.h:
src/shim/cpython/v3_11.h:
src/shim/harness/py.h:
