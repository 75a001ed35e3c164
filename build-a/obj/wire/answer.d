build/obj/wire/answer.o: src/wire/answer.c src/wire/answer.h \
 src/base/buf.h src/base/error.h
src/wire/answer.h:
src/base/buf.h:
src/base/error.h:
