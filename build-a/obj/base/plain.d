build/obj/base/plain.o: src/base/plain.c src/base/plain.h src/base/utf8.h \
 src/base/buf.h
src/base/plain.h:
src/base/utf8.h:
src/base/buf.h:
