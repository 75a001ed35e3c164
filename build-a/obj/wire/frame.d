build/obj/wire/frame.o: src/wire/frame.c src/wire/frame.h src/base/buf.h \
 src/base/error.h
src/wire/frame.h:
src/base/buf.h:
src/base/error.h:
