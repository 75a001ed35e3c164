build/obj/cell/tools/tool_paths.o: src/cell/tools/tool_paths.c \
 src/cell/tools/tool_paths.h src/job/tool_call.h src/policy/tool.h \
 src/json/schema.h src/json/json.h src/base/buf.h src/base/error.h \
 src/base/fd.h src/base/kernel.h
src/cell/tools/tool_paths.h:
src/job/tool_call.h:
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/base/fd.h:
src/base/kernel.h:
