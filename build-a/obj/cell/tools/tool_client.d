build/obj/cell/tools/tool_client.o: src/cell/tools/tool_client.c \
 src/cell/tools/tool_client.h src/policy/tool.h src/json/schema.h \
 src/json/json.h src/base/buf.h src/base/error.h src/base/fd.h
src/cell/tools/tool_client.h:
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/base/fd.h:
