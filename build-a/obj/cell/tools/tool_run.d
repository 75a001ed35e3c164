build/obj/cell/tools/tool_run.o: src/cell/tools/tool_run.c \
 src/cell/tools/toolbox.h src/cell/tools.h src/job/tool_call.h \
 src/policy/tool.h src/json/schema.h src/json/json.h src/base/buf.h \
 src/base/error.h src/manifest/denial.h src/manifest/denial.def \
 src/cell/tools/tool_client.h src/cell/tools/tool_command.h src/base/fd.h \
 src/base/clock.h src/base/units.h
src/cell/tools/toolbox.h:
src/cell/tools.h:
src/job/tool_call.h:
src/policy/tool.h:
src/json/schema.h:
src/json/json.h:
src/base/buf.h:
src/base/error.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/cell/tools/tool_client.h:
src/cell/tools/tool_command.h:
src/base/fd.h:
src/base/clock.h:
src/base/units.h:
