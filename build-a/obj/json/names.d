build/obj/json/names.o: src/json/names.c src/json/names.h
src/json/names.h:
