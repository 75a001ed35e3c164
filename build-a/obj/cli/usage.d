build/obj/cli/usage.o: src/cli/usage.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/arguments.h src/json/names.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/arguments.h:
src/json/names.h:
