build/obj/daemon/queue/tool_answer.o: src/daemon/queue/tool_answer.c \
 src/daemon/queue/tool_link.h src/daemon/process/reactor.h \
 src/base/error.h src/daemon/tenants/request_memory.h src/wire/events.h \
 src/base/buf.h src/manifest/figure.h src/base/hash.h src/base/units.h \
 src/job/tool_call.h src/policy/tool.h src/json/schema.h src/json/json.h
src/daemon/queue/tool_link.h:
src/daemon/process/reactor.h:
src/base/error.h:
src/daemon/tenants/request_memory.h:
src/wire/events.h:
src/base/buf.h:
src/manifest/figure.h:
src/base/hash.h:
src/base/units.h:
src/job/tool_call.h:
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
