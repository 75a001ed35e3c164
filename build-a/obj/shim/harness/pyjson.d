build/obj/shim/harness/pyjson.o: src/shim/harness/pyjson.c \
 src/shim/harness/pyjson.h src/shim/harness/py.h
src/shim/harness/pyjson.h:
src/shim/harness/py.h:
