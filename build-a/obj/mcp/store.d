build/obj/mcp/store.o: src/mcp/store.c src/mcp/store.h src/base/buf.h \
 src/base/error.h src/base/array.h src/base/fd.h src/base/kernel.h \
 src/cell/steps.h src/json/names.h src/mcp/mime.h
src/mcp/store.h:
src/base/buf.h:
src/base/error.h:
src/base/array.h:
src/base/fd.h:
src/base/kernel.h:
src/cell/steps.h:
src/json/names.h:
src/mcp/mime.h:
