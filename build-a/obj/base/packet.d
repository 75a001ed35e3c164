build/obj/base/packet.o: src/base/packet.c src/base/packet.h \
 src/base/fd.h src/base/buf.h src/base/error.h
src/base/packet.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
