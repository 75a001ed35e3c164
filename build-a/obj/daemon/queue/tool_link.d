build/obj/daemon/queue/tool_link.o: src/daemon/queue/tool_link.c \
 src/daemon/queue/tool_link.h src/daemon/process/reactor.h \
 src/base/error.h src/daemon/tenants/request_memory.h src/wire/events.h \
 src/base/buf.h src/manifest/figure.h src/base/hash.h src/base/fd.h
src/daemon/queue/tool_link.h:
src/daemon/process/reactor.h:
src/base/error.h:
src/daemon/tenants/request_memory.h:
src/wire/events.h:
src/base/buf.h:
src/manifest/figure.h:
src/base/hash.h:
src/base/fd.h:
