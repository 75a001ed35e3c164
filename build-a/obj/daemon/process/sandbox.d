build/obj/daemon/process/sandbox.o: src/daemon/process/sandbox.c \
 src/daemon/process/sandbox.h src/base/error.h src/base/fd.h \
 src/base/buf.h src/base/kernel.h src/policy/syscalls.h src/json/json.h \
 src/policy/calls.h
src/daemon/process/sandbox.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/base/kernel.h:
src/policy/syscalls.h:
src/json/json.h:
src/policy/calls.h:
