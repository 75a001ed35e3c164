build/obj/cell/tools/tool_command.o: src/cell/tools/tool_command.c \
 src/cell/tools/tool_command.h src/base/buf.h src/base/error.h \
 src/base/fd.h src/base/kernel.h
src/cell/tools/tool_command.h:
src/base/buf.h:
src/base/error.h:
src/base/fd.h:
src/base/kernel.h:
