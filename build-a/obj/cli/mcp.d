build/obj/cli/mcp.o: src/cli/mcp.c src/cli/cli.h src/base/log.h \
 src/base/error.h src/base/fd.h src/base/buf.h src/cell/card.h \
 src/policy/policy.h src/base/hash.h src/json/json.h src/policy/rules.h \
 src/policy/tool.h src/json/schema.h src/policy/limits.def \
 src/cell/tools.h src/job/tool_call.h src/manifest/denial.h \
 src/manifest/denial.def src/cell/tree_check.h src/cell/tree.h \
 src/cli/cancel.h src/cli/request.h src/job/job.h src/policy/interface.h \
 src/policy/options.h src/job/job_options.def src/mcp/mcp.h
src/cli/cli.h:
src/base/log.h:
src/base/error.h:
src/base/fd.h:
src/base/buf.h:
src/cell/card.h:
src/policy/policy.h:
src/base/hash.h:
src/json/json.h:
src/policy/rules.h:
src/policy/tool.h:
src/json/schema.h:
src/policy/limits.def:
src/cell/tools.h:
src/job/tool_call.h:
src/manifest/denial.h:
src/manifest/denial.def:
src/cell/tree_check.h:
src/cell/tree.h:
src/cli/cancel.h:
src/cli/request.h:
src/job/job.h:
src/policy/interface.h:
src/policy/options.h:
src/job/job_options.def:
src/mcp/mcp.h:
