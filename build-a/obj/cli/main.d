build/obj/cli/main.o: src/cli/main.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/program.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/program.h:
