build/obj/cli/order.o: src/cli/order.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/arguments.h src/base/buf.h src/base/utf8.h \
 src/client/ask.h src/client/http.h src/wire/answer.h src/json/json.h \
 src/json/names.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/arguments.h:
src/base/buf.h:
src/base/utf8.h:
src/client/ask.h:
src/client/http.h:
src/wire/answer.h:
src/json/json.h:
src/json/names.h:
