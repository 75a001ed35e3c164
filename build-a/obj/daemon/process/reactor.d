build/obj/daemon/process/reactor.o: src/daemon/process/reactor.c \
 src/daemon/process/reactor.h src/base/error.h
src/daemon/process/reactor.h:
src/base/error.h:
