build/obj/mcp/session_files.o: src/mcp/session_files.c src/mcp/server.h \
 src/mcp/child.h src/base/buf.h src/mcp/mcp.h src/base/error.h \
 src/mcp/store.h src/wire/rpc.h src/json/json.h src/mcp/mime.h
src/mcp/server.h:
src/mcp/child.h:
src/base/buf.h:
src/mcp/mcp.h:
src/base/error.h:
src/mcp/store.h:
src/wire/rpc.h:
src/json/json.h:
src/mcp/mime.h:
