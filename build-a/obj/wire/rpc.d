build/obj/wire/rpc.o: src/wire/rpc.c src/wire/rpc.h src/json/json.h \
 src/base/buf.h src/base/error.h
src/wire/rpc.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
