build/obj/shim/prefault.o: src/shim/prefault.c src/shim/prefault.h
src/shim/prefault.h:
