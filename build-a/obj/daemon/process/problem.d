build/obj/daemon/process/problem.o: src/daemon/process/problem.c \
 src/daemon/process/problem.h src/base/buf.h src/base/error.h \
 src/base/utf8.h src/json/json.h src/wire/events.h src/manifest/figure.h \
 src/base/hash.h
src/daemon/process/problem.h:
src/base/buf.h:
src/base/error.h:
src/base/utf8.h:
src/json/json.h:
src/wire/events.h:
src/manifest/figure.h:
src/base/hash.h:
