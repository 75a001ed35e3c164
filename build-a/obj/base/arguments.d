build/obj/base/arguments.o: src/base/arguments.c src/base/arguments.h
src/base/arguments.h:
