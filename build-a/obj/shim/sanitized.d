build/obj/shim/sanitized.o: src/shim/sanitized.c
