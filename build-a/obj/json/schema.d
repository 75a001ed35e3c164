build/obj/json/schema.o: src/json/schema.c src/json/schema.h \
 src/json/json.h src/base/buf.h src/base/error.h src/base/utf8.h
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/base/utf8.h:
