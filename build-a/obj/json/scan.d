build/obj/json/scan.o: src/json/scan.c src/json/scan.h src/json/json.h \
 src/base/buf.h src/base/error.h src/base/utf8.h
src/json/scan.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/base/utf8.h:
