/* tool.h - tools: what a program in a cell may have done on the host, by whom, how often and with which
 * arguments. As a policy's section, a spec's member and the command line describe them.
 *
 * Who answers a call is a command of the host, or, without one, the client at the other end of --tool-fd. A
 * spec may come from anybody who can ask for a job: it describes tools, and never names a command. */
#ifndef HC_POLICY_TOOL_H
#define HC_POLICY_TOOL_H

#include "json/schema.h"

#define HC_MAX_TOOLS       64
#define HC_MAX_TOOL_PATHS  8
#define HC_MAX_TOOL_PLACES 16
#define HC_TOOL_NAME       64 /* bytes */

/* An argument that is a path on the host, which the launcher looks at before the tool is called. */
struct hc_tool_path {
    char *argument;
    char *mode;   /* argument that says how it will be opened: only writing is bound. NULL: always bound */
    char **below; /* directories, NULL-terminated: absolute, "~", "~/..." or relative to the launcher's own */
};

struct hc_tool {
    char name[HC_TOOL_NAME + 1];  /* a Python identifier */
    char *description;            /* NULL: none */
    struct hc_schema *parameters; /* of the object of arguments; NULL: any */
    const cJSON *schema;          /* its JSON; borrowed from it */
    char **command;               /* NULL-terminated words; NULL: the client answers */
    struct hc_tool_path paths[HC_MAX_TOOL_PATHS];
    size_t path_count;
    int64_t calls;          /* in one job */
    int64_t rate_milli;     /* thousandths of calls per second; 0: as fast as it goes */
    int64_t timeout_ms;     /* one call */
    int64_t argument_bytes; /* of one call, as JSON */
    int64_t result_bytes;   /* likewise */
};

/* Zero-initialised is empty. */
struct hc_tools {
    struct hc_tool *items; /* owned */
    size_t count;
};

void hc_tools_finish(struct hc_tools *tools);
struct hc_tool *hc_tools_find(const struct hc_tools *tools, const char *name); /* NULL: there is none */

/* Read an object {NAME: {...}}, part of `j`, into `tools`. With `commands` one may be named, and a tool of
 * the same name is replaced; without (a spec) both are errors. HC_EXIT_DATA. */
int hc_tools_read(struct hc_tools *tools, const struct hc_json *j, const cJSON *node, bool commands,
                  struct hc_error *err);

/* Put what `from` has into `to`; `from` is empty afterwards. A name that both have is an error: whoever asks
 * for a job does not loosen what the policy says of a tool. HC_EXIT_DATA. */
int hc_tools_move(struct hc_tools *to, struct hc_tools *from, struct hc_error *err);

/* NAME=COMMAND: gives a tool its command, or makes one that takes any named arguments. The words are split as
 * a shell would, without anything else that shells do. HC_EXIT_USAGE. */
int hc_tools_add_command(struct hc_tools *tools, const char *assignment, struct hc_error *err);

/* As hc_tools_read takes it (with commands); members sorted as they stand. NULL: no memory. */
cJSON *hc_tools_to_json(const struct hc_tools *tools);

/* What the cell is told: [{"name", "description", "parameters", "argument_bytes"}]. NULL: no memory. */
cJSON *hc_tools_for_shim(const struct hc_tools *tools);

#endif
