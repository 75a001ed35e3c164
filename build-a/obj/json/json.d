build/obj/json/json.o: src/json/json.c src/base/utf8.h src/base/buf.h \
 src/json/json.h src/base/error.h src/json/scan.h
src/base/utf8.h:
src/base/buf.h:
src/json/json.h:
src/base/error.h:
src/json/scan.h:
