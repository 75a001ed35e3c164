build/obj/shim/openmp.o: src/shim/openmp.c src/shim/openmp.h
src/shim/openmp.h:
