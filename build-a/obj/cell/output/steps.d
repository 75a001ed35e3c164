build/obj/cell/output/steps.o: src/cell/output/steps.c src/cell/steps.h \
 src/base/error.h src/base/array.h src/base/fd.h src/base/buf.h \
 src/base/kernel.h src/json/json.h
src/cell/steps.h:
src/base/error.h:
src/base/array.h:
src/base/fd.h:
src/base/buf.h:
src/base/kernel.h:
src/json/json.h:
