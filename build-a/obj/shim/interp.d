build/obj/shim/interp.o: src/shim/interp.c src/shim/harness/py.h \
 src/shim/harness/frozen.h src/shim/interp.h src/base/error.h
src/shim/harness/py.h:
src/shim/harness/frozen.h:
src/shim/interp.h:
src/base/error.h:
