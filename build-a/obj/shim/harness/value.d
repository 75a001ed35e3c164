build/obj/shim/harness/value.o: src/shim/harness/value.c \
 src/shim/harness/value.h src/shim/harness/text.h src/shim/harness/py.h \
 src/base/buf.h src/shim/harness/frozen.h src/shim/harness/outcome.h \
 src/policy/rules.h src/json/json.h src/base/error.h
src/shim/harness/value.h:
src/shim/harness/text.h:
src/shim/harness/py.h:
src/base/buf.h:
src/shim/harness/frozen.h:
src/shim/harness/outcome.h:
src/policy/rules.h:
src/json/json.h:
src/base/error.h:
