build/obj/batch/lineset.o: src/batch/lineset.c src/batch/lineset.h
src/batch/lineset.h:
