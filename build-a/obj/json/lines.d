build/obj/json/lines.o: src/json/lines.c src/json/lines.h src/base/buf.h \
 src/base/plain.h src/base/utf8.h
src/json/lines.h:
src/base/buf.h:
src/base/plain.h:
src/base/utf8.h:
