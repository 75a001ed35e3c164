build/obj/cell/session/session_out.o: src/cell/session/session_out.c \
 src/cell/session/session_out.h src/base/error.h src/manifest/figure.h \
 src/base/buf.h src/base/hash.h src/wire/events.h src/base/clock.h \
 src/base/fd.h
src/cell/session/session_out.h:
src/base/error.h:
src/manifest/figure.h:
src/base/buf.h:
src/base/hash.h:
src/wire/events.h:
src/base/clock.h:
src/base/fd.h:
