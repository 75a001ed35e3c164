build/obj/mcp/progress.o: src/mcp/progress.c src/mcp/server.h \
 src/mcp/child.h src/base/buf.h src/mcp/mcp.h src/base/error.h \
 src/mcp/store.h src/wire/rpc.h src/json/json.h src/base/clock.h \
 src/base/utf8.h
src/mcp/server.h:
src/mcp/child.h:
src/base/buf.h:
src/mcp/mcp.h:
src/base/error.h:
src/mcp/store.h:
src/wire/rpc.h:
src/json/json.h:
src/base/clock.h:
src/base/utf8.h:
