build/obj/cli/ledger.o: src/cli/ledger.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/state.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/state.h:
