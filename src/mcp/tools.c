/* The tools: one table, from which the client's list is made and by which arguments are checked. */
#include "mcp/server.h"

#include "json/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum arg_kind { ARG_STRING, ARG_NUMBER, ARG_COUNT, ARG_OBJECT, ARG_TEXTS };

static const struct {
    const char *schema; /* type, as JSON Schema has it */
    const char *shape;  /* the expected type, in error messages */
} kinds[] = {
    [ARG_STRING] = {"string", "a string"},
    [ARG_NUMBER] = {"number", "a number"},
    [ARG_COUNT] = {"integer", "a whole number from 0 on"},
    [ARG_OBJECT] = {"object", "an object"},
    [ARG_TEXTS] = {"array", "a list"},
};

/* An argument of a tool. */
struct arg {
    const char *name;
    enum arg_kind kind; /* kind of its value */
    bool required;      /* each call must have it */
    const char *help;   /* its description, for the model */
    const char *values; /* schema of an object's values, or of a list's items, as JSON; NULL: any */
};

#define MAX_ARGS 9
#define CONTENT                                                                                              \
    "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"base64\":{\"type\":"           \
    "\"string\"}},\"required\":[\"base64\"],\"additionalProperties\":false}]}"

/* Schemas of structured parts. */
#define OBJECT(properties, required)                                                                         \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define SESSION_STATE                                                                                        \
    OBJECT("\"session\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"}", "\"session\",\"state\"")
#define SESSION_CARD                                                                                         \
    OBJECT(                                                                                                  \
        "\"session\":{\"type\":\"string\"},\"policy\":{\"type\":\"string\"},\"tree\":{\"type\":\"string\"}," \
        "\"limits\":{\"type\":\"object\"}",                                                                  \
        "\"session\",\"policy\",\"tree\",\"limits\"")
#define INTERRUPTION                                                                                         \
    OBJECT("\"session\":{\"type\":\"string\"},\"interrupted\":{\"type\":\"boolean\"}",                       \
           "\"session\",\"interrupted\"")
#define SESSIONS OBJECT("\"sessions\":{\"type\":\"array\",\"items\":" SESSION_STATE "}", "\"sessions\"")
#define FILE_DATA                                                                                            \
    OBJECT("\"path\":{\"type\":\"string\"},\"mime\":{\"type\":\"string\"},\"bytes\":{\"type\":\"integer\"}," \
           "\"kind\":{\"type\":\"string\"}",                                                                 \
           "\"path\"")
#define FILE_LIST                                                                                            \
    OBJECT("\"files\":{\"type\":\"array\",\"items\":" FILE_DATA "},\"more\":{\"type\":\"integer\"},"         \
           "\"next_offset\":{\"type\":\"integer\"}",                                                         \
           "\"files\",\"more\"")

struct tool {
    const char *name, *title, *help; /* title: for people; help: for the model */
    bool reads_only, destroys, card; /* hints for the client; `card`: append the card to the help */
    bool commands;      /* the tool is there only where the policy lets programs of the tree be executed */
    const char *output; /* schema of the structured part; NULL: none */
    void (*call)(struct hc_mcp *m, const struct hc_call *call); /* answers a call */
    struct arg args[MAX_ARGS];
};

static const struct tool tools[] = {
    {"run_python", "Run a Python program in a sealed cell",
     "Run a Python program in a cell of its own and give back what it printed, the value of its last "
     "expression, its figures as images, and the files that it left in /output. Each call starts from "
     "nothing: variables of earlier calls are gone; keep what is needed in files.",
     .card = true, .output = hc_run_schema, .call = hc_tool_run_python,
     .args =
         {{"code", ARG_STRING, true, "The program.", NULL},
          {"vars", ARG_OBJECT, false, "Variables of the program: name and JSON value.", NULL},
          {"stdin", ARG_STRING, false, "What the program reads from sys.stdin and by input().", NULL},
          {"args", ARG_TEXTS, false, "Arguments of the program, sys.argv[1:].", "{\"type\":\"string\"}"},
          {"env", ARG_OBJECT, false, "Environment variables of the program.", "{\"type\":\"string\"}"},
          {"files", ARG_OBJECT, false,
           "Data that comes with the call: NAME.EXT and its text, or {\"base64\": ...}. Each is there as a "
           "file of its own name, and as the variable NAME (q3_sales for q3-sales.csv, file_2026 for "
           "2026.csv): .csv, .json and .jsonl as pandas data frames, .npy and .npz as arrays, anything else "
           "as the path.",
           CONTENT},
          {"inputs", ARG_OBJECT, false,
           "Files that are kept here as data: variable name and path, such as \"run-1/table.csv\" or "
           "\"files/sales.csv\". They are loaded as those of 'files'.",
           "{\"type\":\"string\"}"},
          {"timeout", ARG_NUMBER, false, "Seconds that the program may take, if less than the policy allows.",
           NULL}}},
    {"run_command", "Run a command in a sealed cell",
     "Run a program of the cell's tree with its arguments, such as [\"sh\", \"-c\", \"ls | wc -l\"], in a "
     "cell of "
     "its own or, with 'session', in an open session, where it finds and leaves the same files as the "
     "programs "
     "there. Give back what it printed, its exit status, and the files that it left in /output. The same "
     "rules "
     "and limits hold as for run_python. What it leaves running in the background ends with it.",
     .commands = true, .output = hc_run_schema, .call = hc_tool_run_command,
     .args =
         {{"command", ARG_TEXTS, true, "The program and its arguments; no shell reads them.",
           "{\"type\":\"string\"}"},
          {"session", ARG_STRING, false, "Run it in this open session, such as \"session-1\".", NULL},
          {"stdin", ARG_STRING, false, "Its standard input.", NULL},
          {"env", ARG_OBJECT, false, "Environment variables of the command.", "{\"type\":\"string\"}"},
          {"files", ARG_OBJECT, false,
           "Files that come with the call, NAME.EXT and its text, or {\"base64\": ...}; not with 'session', "
           "which has write_file.",
           CONTENT},
          {"inputs", ARG_OBJECT, false,
           "Files that are kept here: a name, and a path such as \"run-1/table.csv\"; it is there under that "
           "name with the path's ending. Not with 'session'.",
           "{\"type\":\"string\"}"},
          {"timeout", ARG_NUMBER, false, "Seconds that the command may take, if less than the policy allows.",
           NULL}}},
    {"session_open", "Open a session",
     "Open a session: a cell whose interpreter keeps variables, imports and files from one session_run to "
     "the next, for work in steps. At most 4 are open at once; close them. The same rules and limits hold as "
     "for run_python, for each run.",
     .output = SESSION_CARD, .call = hc_tool_session_open,
     .args = {{"files", ARG_OBJECT, false, "Data that comes with the call, as for run_python.", CONTENT},
              {"inputs", ARG_OBJECT, false, "Files that are kept here as data, as for run_python.",
               "{\"type\":\"string\"}"}}},
    {"session_run", "Run a program in a session",
     "Run a Python program in a session, with the variables that earlier ones left. A program that is "
     "killed, by a limit or a crash, costs only itself: 'state' says what the next one will find.",
     .output = hc_run_schema, .call = hc_tool_session_run,
     .args = {{"session", ARG_STRING, true, "Such as \"session-1\".", NULL},
              {"code", ARG_STRING, true, "The program.", NULL},
              {"vars", ARG_OBJECT, false, "Variables to set before: name and JSON value.", NULL},
              {"stdin", ARG_STRING, false, "What this program reads from sys.stdin and by input().", NULL},
              {"args", ARG_TEXTS, false, "Arguments of this program, sys.argv[1:].", "{\"type\":\"string\"}"},
              {"env", ARG_OBJECT, false, "Environment variables of this program alone.",
               "{\"type\":\"string\"}"},
              {"timeout", ARG_NUMBER, false,
               "Seconds that the program may take, if less than the policy allows.", NULL}}},
    {"session_checkpoint", "Keep a session's state under a name",
     "Keep the variables of a session as they are now, under a name. There can be 8.",
     .output = SESSION_STATE, .call = hc_tool_session_checkpoint,
     .args = {{"session", ARG_STRING, true, "Such as \"session-1\".", NULL},
              {"name", ARG_STRING, true, "Letters and digits, such as \"loaded\".", NULL}}},
    {"session_rollback", "Go back to a checkpoint",
     "Make the variables of a session what they were at a checkpoint. Files stay as they are.",
     .destroys = true, .output = SESSION_STATE, .call = hc_tool_session_rollback,
     .args = {{"session", ARG_STRING, true, "Such as \"session-1\".", NULL},
              {"name", ARG_STRING, true, "Of session_checkpoint.", NULL}}},
    {"session_interrupt", "Interrupt a session",
     "Raise KeyboardInterrupt in the program that runs in a session. Its variables stay.",
     .output = INTERRUPTION, .call = hc_tool_session_interrupt,
     .args = {{"session", ARG_STRING, true, "Such as \"session-1\".", NULL}}},
    {"session_list", "List the sessions",
     "List the sessions that are open, and whether a program runs in them.", .reads_only = true,
     .output = SESSIONS, .call = hc_tool_session_list},
    {"session_close", "Close a session", "End a session. The files that it left in /output are kept.",
     .destroys = true, .output = SESSION_STATE, .call = hc_tool_session_close,
     .args = {{"session", ARG_STRING, true, "Such as \"session-1\".", NULL}}},
    {"list_files", "List files",
     "List the files that are kept: those of write_file, and what earlier programs left, newest last. "
     "Results of old runs are removed when newer ones need the room.",
     .reads_only = true, .output = FILE_LIST, .call = hc_tool_list_files,
     .args = {{"of", ARG_STRING, false,
               "Only these: a run such as \"run-3\", or \"files\" for what was written.", NULL},
              {"offset", ARG_COUNT, false, "How many to leave out at the beginning.", NULL},
              {"session", ARG_STRING, false,
               "List the working directory of this open session instead; 'of' is then a directory in it.",
               NULL}}},
    {"read_file", "Read a file",
     "Read a file that list_files or a run named. Text comes in parts of at most 64 KiB, images as images, "
     "other files of up to 1 MiB as base64.",
     .reads_only = true, .call = hc_tool_read_file,
     .args = {{"path", ARG_STRING, true, "Such as \"run-1/table.csv\".", NULL},
              {"offset", ARG_COUNT, false, "The byte to begin with.", NULL},
              {"session", ARG_STRING, false,
               "Read it in the working directory of this open session, between its runs.", NULL}}},
    {"write_file", "Write a file",
     "Keep a file, for later programs to take as one of their inputs. One of the same name is replaced.",
     .destroys = true, .output = FILE_DATA, .call = hc_tool_write_file,
     .args = {{"name", ARG_STRING, true, "A plain file name, such as \"sales.csv\".", NULL},
              {"text", ARG_STRING, false, "Its content.", NULL},
              {"base64", ARG_STRING, false, "Its content, if it is not text.", NULL},
              {"session", ARG_STRING, false,
               "Put it into the working directory of this open session, for its next session_run; 'name' may "
               "then be a path.",
               NULL}}},
    {"remove_file", "Remove a file or a run", "Remove a file of write_file, or all that a run left.",
     .destroys = true, .call = hc_tool_remove_file,
     .args = {{"path", ARG_STRING, true, "Such as \"files/sales.csv\" or \"run-3\".", NULL},
              {"session", ARG_STRING, false, "Remove it in the working directory of this open session.",
               NULL}}},
};

#define TOOLS (sizeof tools / sizeof *tools)

/* ---- the list ---- */

static bool is_offered(const struct hc_mcp *m, const struct tool *t)
{
    return m->commands || !t->commands;
}

static cJSON *arg_schema(const struct hc_mcp *m, const struct arg *arg)
{
    cJSON *schema = cJSON_CreateObject();
    hc_mcp_put(schema, "type", cJSON_CreateString(kinds[arg->kind].schema));
    hc_mcp_put(schema, "description", cJSON_CreateString(arg->help));
    if (arg->kind == ARG_COUNT)
        hc_mcp_put(schema, "minimum", cJSON_CreateNumber(0));
    if (arg->kind == ARG_NUMBER) { /* the timeout is the only number */
        hc_mcp_put(schema, "exclusiveMinimum", cJSON_CreateNumber(0));
        hc_mcp_put(schema, "maximum", cJSON_CreateNumber((double)m->timeout_ms / 1000));
    }
    if (arg->values)
        (void)cJSON_AddRawToObject(schema, arg->kind == ARG_TEXTS ? "items" : "additionalProperties",
                                   arg->values);
    return schema;
}

static cJSON *input_schema(const struct hc_mcp *m, const struct tool *t)
{
    cJSON *schema = cJSON_CreateObject();
    hc_mcp_put(schema, "type", cJSON_CreateString("object"));
    cJSON *properties = cJSON_AddObjectToObject(schema, "properties");
    cJSON *required = cJSON_CreateArray();
    for (const struct arg *a = t->args; a < t->args + MAX_ARGS && a->name; a++) {
        hc_mcp_put(properties, a->name, arg_schema(m, a));
        if (a->required)
            hc_mcp_add(required, cJSON_CreateString(a->name));
    }
    hc_mcp_put(schema, "required", required);
    hc_mcp_put(schema, "additionalProperties", cJSON_CreateFalse());
    return schema;
}

static cJSON *describe(const struct hc_mcp *m, const struct tool *t)
{
    cJSON *tool = cJSON_CreateObject();
    hc_autobuf help = {0};
    (void)hc_buf_str(&help, t->help);
    if (t->card)
        (void)hc_buf_fmt(&help, "\n\n%s", m->card);
    hc_mcp_put(tool, "name", cJSON_CreateString(t->name));
    if (m->version->structured)
        hc_mcp_put(tool, "title", cJSON_CreateString(t->title));
    hc_mcp_put(tool, "description", cJSON_CreateString(help.failed ? t->help : help.data));
    hc_mcp_put(tool, "inputSchema", input_schema(m, t));
    if (t->output && m->version->structured)
        (void)cJSON_AddRawToObject(tool, "outputSchema", t->output);
    if (!m->version->annotated)
        return tool;
    cJSON *hints = cJSON_AddObjectToObject(tool, "annotations");
    hc_mcp_put(hints, "readOnlyHint", cJSON_CreateBool(t->reads_only));
    hc_mcp_put(hints, "destructiveHint", cJSON_CreateBool(t->destroys));
    hc_mcp_put(hints, "openWorldHint", cJSON_CreateFalse());
    return tool;
}

cJSON *hc_mcp_list_tools(const struct hc_mcp *m)
{
    cJSON *result = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(result, "tools");
    for (size_t i = 0; i < TOOLS; i++)
        if (is_offered(m, &tools[i]))
            hc_mcp_add(list, describe(m, &tools[i]));
    return result;
}

/* ---- calls ---- */

const char *hc_mcp_string(const struct hc_call *call, const char *name)
{
    return hc_json_text_or(call->arguments, name, NULL);
}

static bool fits(const struct arg *arg, const cJSON *value)
{
    switch (arg->kind) {
    case ARG_STRING:
        return cJSON_IsString(value);
    case ARG_NUMBER:
        return cJSON_IsNumber(value);
    case ARG_COUNT:
        return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= 9e15 &&
               value->valuedouble == floor(value->valuedouble);
    case ARG_TEXTS:
        return cJSON_IsArray(value);
    default:
        return cJSON_IsObject(value);
    }
}

static const struct arg *find_arg(const struct tool *t, const char *name)
{
    for (const struct arg *a = t->args; a < t->args + MAX_ARGS && a->name; a++)
        if (strcmp(a->name, name) == 0)
            return a;
    return NULL;
}

static void refuse_unknown(struct hc_mcp *m, const char *id, const struct tool *t, const char *name)
{
    const char *known[MAX_ARGS + 1] = {NULL};
    char hint[160];
    for (size_t i = 0; i < MAX_ARGS && t->args[i].name; i++)
        known[i] = t->args[i].name;
    hc_nearest(name, known, hint, sizeof hint);
    hc_mcp_refuse(m, id, "%s has no argument '%.64s'%s", t->name, name, hint);
}

/* Check the arguments. Errors are answered to the model, which can correct them. */
static bool check_arguments(struct hc_mcp *m, const char *id, const struct tool *t, const cJSON *arguments)
{
    const cJSON *value;
    cJSON_ArrayForEach(value, arguments)
    {
        const struct arg *arg = find_arg(t, value->string);
        if (!arg) {
            refuse_unknown(m, id, t, value->string);
            return false;
        }
        if (!fits(arg, value)) {
            hc_mcp_refuse(m, id, "%s: %s: expected %s, got %s", t->name, arg->name, kinds[arg->kind].shape,
                          hc_json_kind(value));
            return false;
        }
    }
    for (const struct arg *a = t->args; a < t->args + MAX_ARGS && a->name; a++)
        if (a->required && !hc_json_member(arguments, a->name)) {
            hc_mcp_refuse(m, id, "%s: expected the argument %s, %s", t->name, a->name, kinds[a->kind].shape);
            return false;
        }
    return true;
}

void hc_mcp_call_tool(struct hc_mcp *m, const struct hc_rpc *message)
{
    const char *name = hc_json_text_or(message->params, "name", NULL);
    const cJSON *arguments = hc_json_member(message->params, "arguments");
    const struct tool *t = NULL;
    for (size_t i = 0; name && i < TOOLS; i++)
        if (strcmp(tools[i].name, name) == 0 && is_offered(m, &tools[i]))
            t = &tools[i];
    if (!name)
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS, "name: expected the name of a tool");
    else if (!t)
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS,
                     "there is no tool '%.80s' (tools/list names them)", name);
    else if (arguments && !cJSON_IsObject(arguments))
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS, "arguments: expected an object, got %s",
                     hc_json_kind(arguments));
    else if (check_arguments(m, message->id, t, arguments))
        t->call(m, &(struct hc_call){.message = message, .arguments = arguments});
}
