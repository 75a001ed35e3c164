build/obj/base/log.o: src/base/log.c src/base/log.h src/base/error.h
src/base/log.h:
src/base/error.h:
