build/obj/inside/weak.o: src/inside/weak.c src/inside/weak.h \
 src/base/error.h
src/inside/weak.h:
src/base/error.h:
