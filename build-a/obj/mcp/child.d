build/obj/mcp/child.o: src/mcp/child.c src/mcp/child.h src/base/buf.h \
 src/mcp/mcp.h src/base/error.h src/base/clock.h src/base/fd.h \
 src/base/utf8.h src/json/json.h src/mcp/server.h src/mcp/store.h \
 src/wire/rpc.h
src/mcp/child.h:
src/base/buf.h:
src/mcp/mcp.h:
src/base/error.h:
src/base/clock.h:
src/base/fd.h:
src/base/utf8.h:
src/json/json.h:
src/mcp/server.h:
src/mcp/store.h:
src/wire/rpc.h:
