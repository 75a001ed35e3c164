build/obj/base/units.o: src/base/units.c src/base/units.h
src/base/units.h:
