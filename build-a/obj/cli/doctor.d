build/obj/cli/doctor.o: src/cli/doctor.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/cell/host.h src/cli/drill.h src/base/arguments.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/cell/host.h:
src/cli/drill.h:
src/base/arguments.h:
