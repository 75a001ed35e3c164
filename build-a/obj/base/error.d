build/obj/base/error.o: src/base/error.c src/base/error.h \
 src/base/plain.h
src/base/error.h:
src/base/plain.h:
