build/obj/manifest/samples.o: src/manifest/samples.c \
 src/manifest/samples.h
src/manifest/samples.h:
