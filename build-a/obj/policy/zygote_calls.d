build/obj/policy/zygote_calls.o: src/policy/zygote_calls.c \
 src/policy/calls.h src/base/fd.h src/base/buf.h src/base/error.h
src/policy/calls.h:
src/base/fd.h:
src/base/buf.h:
src/base/error.h:
