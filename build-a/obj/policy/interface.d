build/obj/policy/interface.o: src/policy/interface.c \
 src/policy/interface.h src/base/buf.h src/policy/interface.def
src/policy/interface.h:
src/base/buf.h:
src/policy/interface.def:
