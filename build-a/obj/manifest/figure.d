build/obj/manifest/figure.o: src/manifest/figure.c src/manifest/figure.h \
 src/base/buf.h src/base/error.h src/base/hash.h src/base/array.h \
 src/base/utf8.h src/json/json.h
src/manifest/figure.h:
src/base/buf.h:
src/base/error.h:
src/base/hash.h:
src/base/array.h:
src/base/utf8.h:
src/json/json.h:
