build/obj/wire/events.o: src/wire/events.c src/wire/events.h \
 src/base/buf.h src/manifest/figure.h src/base/error.h src/base/hash.h \
 src/base/utf8.h src/json/json.h
src/wire/events.h:
src/base/buf.h:
src/manifest/figure.h:
src/base/error.h:
src/base/hash.h:
src/base/utf8.h:
src/json/json.h:
