build/obj/mcp/result.o: src/mcp/result.c src/mcp/server.h src/mcp/child.h \
 src/base/buf.h src/mcp/mcp.h src/base/error.h src/mcp/store.h \
 src/wire/rpc.h src/json/json.h src/base/utf8.h src/mcp/mime.h \
 src/manifest/status.def
src/mcp/server.h:
src/mcp/child.h:
src/base/buf.h:
src/mcp/mcp.h:
src/base/error.h:
src/mcp/store.h:
src/wire/rpc.h:
src/json/json.h:
src/base/utf8.h:
src/mcp/mime.h:
src/manifest/status.def:
