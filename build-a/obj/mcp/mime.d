build/obj/mcp/mime.o: src/mcp/mime.c src/mcp/mime.h
src/mcp/mime.h:
