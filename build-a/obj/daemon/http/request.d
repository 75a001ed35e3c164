build/obj/daemon/http/request.o: src/daemon/http/request.c \
 src/daemon/http/request.h src/json/json.h src/base/buf.h \
 src/base/error.h
src/daemon/http/request.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
