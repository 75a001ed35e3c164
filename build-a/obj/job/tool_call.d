build/obj/job/tool_call.o: src/job/tool_call.c src/job/tool_call.h \
 src/policy/tool.h src/json/schema.h src/json/json.h src/base/buf.h \
 src/base/error.h src/base/utf8.h src/json/scan.h
src/job/tool_call.h:
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/base/utf8.h:
src/json/scan.h:
