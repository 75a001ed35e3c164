build/obj/base/version.o: src/base/version.c src/base/version.h
src/base/version.h:
