build/obj/shim/harness/words.o: src/shim/harness/words.c \
 src/shim/harness/words.h src/policy/interface.h src/base/buf.h
src/shim/harness/words.h:
src/policy/interface.h:
src/base/buf.h:
