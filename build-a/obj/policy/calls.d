build/obj/policy/calls.o: src/policy/calls.c src/policy/calls.h
src/policy/calls.h:
