build/obj/client/stream.o: src/client/stream.c src/client/stream.h \
 src/base/buf.h src/base/error.h src/base/fd.h src/base/log.h \
 src/base/plain.h src/client/ask.h src/client/http.h src/wire/answer.h \
 src/json/json.h
src/client/stream.h:
src/base/buf.h:
src/base/error.h:
src/base/fd.h:
src/base/log.h:
src/base/plain.h:
src/client/ask.h:
src/client/http.h:
src/wire/answer.h:
src/json/json.h:
