build/obj/shim/guard/strides.o: src/shim/guard/strides.c \
 src/shim/cpython/cpython.h src/shim/cpython/v3_11.h \
 src/shim/guard/strides.h src/shim/harness/py.h src/shim/guard/denial.h \
 src/shim/guard/frames.h src/base/buf.h src/shim/guard/hints.h
src/shim/cpython/cpython.h:
src/shim/cpython/v3_11.h:
src/shim/guard/strides.h:
src/shim/harness/py.h:
src/shim/guard/denial.h:
src/shim/guard/frames.h:
src/base/buf.h:
src/shim/guard/hints.h:
