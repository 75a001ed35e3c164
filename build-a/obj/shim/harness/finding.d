build/obj/shim/harness/finding.o: src/shim/harness/finding.c \
 src/shim/harness/finding.h src/base/buf.h src/json/lines.h src/base/fd.h \
 src/base/error.h src/shim/harness/text.h src/shim/harness/py.h
src/shim/harness/finding.h:
src/base/buf.h:
src/json/lines.h:
src/base/fd.h:
src/base/error.h:
src/shim/harness/text.h:
src/shim/harness/py.h:
