build/obj/manifest/usage.o: src/manifest/usage.c src/manifest/usage.h \
 src/manifest/usage.def
src/manifest/usage.h:
src/manifest/usage.def:
