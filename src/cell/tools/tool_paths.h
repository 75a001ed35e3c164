/* tool_paths.h - check arguments of tools that are paths on the host: they must lead below given
 * directories. */
#ifndef HC_CELL_TOOLS_TOOL_PATHS_H
#define HC_CELL_TOOLS_TOOL_PATHS_H

#include "job/tool_call.h"

/* A hc_tool_resolver. The path must lead, without symbolic links below the directory and without leaving
 * it on the way, to something that exists or could be made. *out gets the resolved path as the kernel
 * names it, owned by the caller. "~" is the caller's home; relative paths begin in the launcher's working
 * directory. */
int hc_tool_path_resolve(void *ctx, const struct hc_tool_path *path, const char *value, char **out,
                         struct hc_error *err);

#endif
