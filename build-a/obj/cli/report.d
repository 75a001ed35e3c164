build/obj/cli/report.o: src/cli/report.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/fd.h src/base/buf.h src/base/state.h \
 src/json/json.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/base/state.h:
src/json/json.h:
