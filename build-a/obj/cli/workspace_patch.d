build/obj/cli/workspace_patch.o: src/cli/workspace_patch.c \
 src/cli/workspace.h src/base/buf.h src/base/fd.h src/base/error.h \
 src/base/plain.h
src/cli/workspace.h:
src/base/buf.h:
src/base/fd.h:
src/base/error.h:
src/base/plain.h:
