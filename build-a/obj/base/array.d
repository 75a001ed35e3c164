build/obj/base/array.o: src/base/array.c src/base/array.h
src/base/array.h:
