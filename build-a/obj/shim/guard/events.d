build/obj/shim/guard/events.o: src/shim/guard/events.c \
 src/shim/guard/events.h
src/shim/guard/events.h:
