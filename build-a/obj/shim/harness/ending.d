build/obj/shim/harness/ending.o: src/shim/harness/ending.c \
 src/shim/harness/ending.h src/shim/harness/py.h src/shim/harness/files.h
src/shim/harness/ending.h:
src/shim/harness/py.h:
src/shim/harness/files.h:
