build/obj/mcp/tools.o: src/mcp/tools.c src/mcp/server.h src/mcp/child.h \
 src/base/buf.h src/mcp/mcp.h src/base/error.h src/mcp/store.h \
 src/wire/rpc.h src/json/json.h src/json/names.h
src/mcp/server.h:
src/mcp/child.h:
src/base/buf.h:
src/mcp/mcp.h:
src/base/error.h:
src/mcp/store.h:
src/wire/rpc.h:
src/json/json.h:
src/json/names.h:
