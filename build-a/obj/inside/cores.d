build/obj/inside/cores.o: src/inside/cores.c src/inside/cores.h \
 src/base/error.h
src/inside/cores.h:
src/base/error.h:
