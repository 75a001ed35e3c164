build/obj/cli/tree.o: src/cli/tree.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/arguments.h src/base/fd.h src/base/buf.h \
 src/base/state.h src/cell/tree.h src/base/hash.h src/json/json.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/arguments.h:
src/base/fd.h:
src/base/buf.h:
src/base/state.h:
src/cell/tree.h:
src/base/hash.h:
src/json/json.h:
