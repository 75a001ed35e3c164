build/obj/policy/redact.o: src/policy/redact.c src/policy/redact.h \
 src/json/json.h src/base/buf.h src/base/error.h src/base/utf8.h \
 src/policy/rules.h
src/policy/redact.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/base/utf8.h:
src/policy/rules.h:
