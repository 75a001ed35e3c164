build/obj/policy/rules_table.o: src/policy/rules_table.c \
 src/policy/rules.h src/json/json.h src/base/buf.h src/base/error.h
src/policy/rules.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
