build/obj/shim/harness/frozen.o: src/shim/harness/frozen.c \
 src/shim/harness/frozen.h src/shim/harness/py.h build/gen/harness.inc
src/shim/harness/frozen.h:
src/shim/harness/py.h:
build/gen/harness.inc:
