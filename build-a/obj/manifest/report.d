build/obj/manifest/report.o: src/manifest/report.c src/manifest/report.h \
 src/json/json.h src/base/buf.h src/base/error.h src/json/scan.h
src/manifest/report.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/json/scan.h:
