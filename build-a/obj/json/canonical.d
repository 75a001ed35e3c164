build/obj/json/canonical.o: src/json/canonical.c src/json/scan.h \
 src/json/json.h src/base/buf.h src/base/error.h src/base/plain.h \
 src/base/utf8.h
src/json/scan.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/base/plain.h:
src/base/utf8.h:
