build/obj/shim/cpython/sha2.o: src/shim/cpython/sha2.c
