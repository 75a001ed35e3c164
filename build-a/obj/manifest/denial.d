build/obj/manifest/denial.o: src/manifest/denial.c src/manifest/denial.h \
 src/base/error.h src/manifest/denial.def src/json/json.h src/base/buf.h
src/manifest/denial.h:
src/base/error.h:
src/manifest/denial.def:
src/json/json.h:
src/base/buf.h:
