build/obj/shim/harness/text.o: src/shim/harness/text.c \
 src/shim/harness/text.h src/shim/harness/py.h src/base/buf.h
src/shim/harness/text.h:
src/shim/harness/py.h:
src/base/buf.h:
