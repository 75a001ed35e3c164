build/obj/client/http.o: src/client/http.c src/client/http.h \
 src/base/error.h src/wire/answer.h src/base/buf.h src/base/fd.h \
 src/base/state.h src/base/units.h
src/client/http.h:
src/base/error.h:
src/wire/answer.h:
src/base/buf.h:
src/base/fd.h:
src/base/state.h:
src/base/units.h:
