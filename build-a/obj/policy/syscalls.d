build/obj/policy/syscalls.o: src/policy/syscalls.c src/policy/syscalls.h \
 src/json/json.h src/base/buf.h src/base/error.h src/policy/calls.h \
 src/json/names.h src/policy/rules.h
src/policy/syscalls.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/policy/calls.h:
src/json/names.h:
src/policy/rules.h:
