build/obj/base/buf.o: src/base/buf.c src/base/buf.h
src/base/buf.h:
