build/obj/manifest/finding.o: src/manifest/finding.c \
 src/manifest/finding.h src/json/json.h src/base/buf.h src/base/error.h
src/manifest/finding.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
