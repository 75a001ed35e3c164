build/obj/policy/tool_shim.o: src/policy/tool_shim.c src/policy/tool.h \
 src/json/schema.h src/json/json.h src/base/buf.h src/base/error.h
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
