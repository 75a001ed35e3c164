build/obj/shim/settle.o: src/shim/settle.c src/shim/settle.h \
 src/shim/harness/py.h
src/shim/settle.h:
src/shim/harness/py.h:
