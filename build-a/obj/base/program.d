build/obj/base/program.o: src/base/program.c src/base/program.h \
 src/base/error.h src/base/log.h
src/base/program.h:
src/base/error.h:
src/base/log.h:
