/* tool.h - tools: functions on the host that a program in a cell may call, with the arguments and the number
 * of calls that are allowed. A policy's section, a job spec's member and the command line describe tools.
 *
 * A command of the host answers a call; if a tool has no command, the client at the other end of --tool-fd
 * does. Every sender of a job can write a spec, so a spec describes tools but never names a command. */
#ifndef HC_POLICY_TOOL_H
#define HC_POLICY_TOOL_H

#include "json/schema.h"

#define HC_MAX_TOOLS       64 /* most tools of a job */
#define HC_MAX_TOOL_PATHS  8  /* most arguments of a tool that are paths */
#define HC_MAX_TOOL_PLACES 16 /* most directories of such an argument */
#define HC_TOOL_NAME       64 /* most bytes of a tool's name */

/* An argument that is a path on the host. The launcher checks it before the tool is called. */
struct hc_tool_path {
    char *argument; /* name of the argument; owned, as are the other texts */
    /* Name of the argument that says how the tool opens the path: only a path to be written has to be below
     * the directories. NULL: each path has to be. */
    char *mode;
    /* The directories: absolute, "~", "~/...", or relative to the launcher's current one; ends with NULL. */
    char **below;
};

struct hc_tool {
    char name[HC_TOOL_NAME + 1]; /* a Python identifier */
    char *description;           /* description for the writer of programs; owned; NULL: none */
    struct hc_schema
        *parameters;     /* schema of the object that holds the arguments; owned; NULL: any arguments */
    const cJSON *schema; /* the schema of the parameters as JSON; borrowed from `parameters` */
    char **command;      /* NULL-terminated words, owned; NULL: the client answers */
    struct hc_tool_path paths[HC_MAX_TOOL_PATHS]; /* arguments that are paths; their texts are owned */
    size_t path_count;                            /* used entries of `paths` */
    int64_t calls;                                /* most calls in one job */
    int64_t rate_milli;                           /* most calls per 1,000 seconds; 0: no limit */
    int64_t timeout_ms;                           /* longest time of one call, in milliseconds */
    int64_t argument_bytes;                       /* most bytes of one call's arguments, as JSON */
    int64_t result_bytes;                         /* most bytes of one call's result, as JSON */
};

/* A list of tools. A zero-initialised list is empty. */
struct hc_tools {
    struct hc_tool *items; /* the tools; owned */
    size_t count;          /* number of `items` */
};

void hc_tools_finish(struct hc_tools *tools);
struct hc_tool *hc_tools_find(const struct hc_tools *tools, const char *name); /* NULL: there is none */

/* Reads an object {NAME: {...}}, which is part of `j`, into `tools`. With `commands` (a policy) a tool may
 * name its command, and replaces a tool of the same name; without (a spec) both are errors. -1: HC_EXIT_DATA.
 */
int hc_tools_read(struct hc_tools *tools, const struct hc_json *j, const cJSON *node, bool commands,
                  struct hc_error *err);

/* Moves all tools of `from` to `to`. A name that both have is an error, so that the sender of a job cannot
 * loosen a tool of the policy. -1: HC_EXIT_DATA. */
int hc_tools_move(struct hc_tools *to, struct hc_tools *from, struct hc_error *err);

/* `assignment` is NAME=COMMAND: gives the tool NAME this command, or makes a tool that takes any named
 * arguments. COMMAND is split into words as a shell splits it; nothing is expanded. -1: HC_EXIT_USAGE. */
int hc_tools_add_command(struct hc_tools *tools, const char *assignment, struct hc_error *err);

/* The object that hc_tools_read takes (with `commands`), in the tools' order; the caller owns it. NULL: no
 * memory. */
cJSON *hc_tools_to_json(const struct hc_tools *tools);

/* The list that the cell gets; the caller owns it: [{"name", "description", "parameters", "argument_bytes"}].
 * NULL: no memory. */
cJSON *hc_tools_for_shim(const struct hc_tools *tools);

#endif
