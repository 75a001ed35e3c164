build/obj/policy/rules.o: src/policy/rules.c src/policy/rules.h \
 src/json/json.h src/base/buf.h src/base/error.h src/json/names.h \
 src/policy/syscalls.h src/policy/calls.h
src/policy/rules.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/json/names.h:
src/policy/syscalls.h:
src/policy/calls.h:
