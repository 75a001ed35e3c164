build/obj/batch/entry.o: src/batch/entry.c src/batch/entry.h \
 src/base/buf.h src/base/error.h src/base/hash.h src/json/json.h \
 src/json/names.h
src/batch/entry.h:
src/base/buf.h:
src/base/error.h:
src/base/hash.h:
src/json/json.h:
src/json/names.h:
