build/obj/mcp/files.o: src/mcp/files.c src/mcp/server.h src/mcp/child.h \
 src/base/buf.h src/mcp/mcp.h src/base/error.h src/mcp/store.h \
 src/wire/rpc.h src/json/json.h src/base/log.h src/base/utf8.h \
 src/mcp/mime.h
src/mcp/server.h:
src/mcp/child.h:
src/base/buf.h:
src/mcp/mcp.h:
src/base/error.h:
src/mcp/store.h:
src/wire/rpc.h:
src/json/json.h:
src/base/log.h:
src/base/utf8.h:
src/mcp/mime.h:
