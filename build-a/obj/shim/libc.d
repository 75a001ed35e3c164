build/obj/shim/libc.o: src/shim/libc.c src/shim/libc.h
src/shim/libc.h:
