/* The methods of the protocol, in one table. */
#include "mcp/server.h"

#include <string.h>

/* Newest first: a client that asks for another version is offered the first. 2025-03-26 alone has batches,
 * which no client is known to send: they are refused. */
static const struct hc_mcp_version versions[] = {
    {.date = "2025-11-25", .annotated = true, .structured = true},
    {.date = "2025-06-18", .annotated = true, .structured = true},
    {.date = "2025-03-26", .annotated = true},
    {.date = "2024-11-05"}};

bool hc_mcp_knows(const char *date)
{
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(date, versions[i].date) == 0)
            return true;
    return false;
}

static void initialize(struct hc_mcp *m, const struct hc_rpc *message)
{
    const char *asked = hc_json_text_or(message->params, "protocolVersion", NULL);
    if (m->version) {
        hc_mcp_error(m, message->id, HC_RPC_INVALID_REQUEST, "initialize: this has been done already");
        return;
    }
    if (!asked) {
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS, "initialize: expected protocolVersion, a string");
        return;
    }
    m->version = &versions[0];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
        if (strcmp(asked, versions[i].date) == 0)
            m->version = &versions[i];
    cJSON *result = cJSON_CreateObject();
    hc_mcp_put(result, "protocolVersion", cJSON_CreateString(m->version->date));
    cJSON *can = cJSON_AddObjectToObject(result, "capabilities");
    (void)cJSON_AddObjectToObject(can, "tools");
    hc_mcp_put(cJSON_AddObjectToObject(can, "resources"), "listChanged", cJSON_CreateTrue());
    cJSON *info = cJSON_AddObjectToObject(result, "serverInfo");
    hc_mcp_put(info, "name", cJSON_CreateString("hotcell"));
    if (m->version->structured)
        hc_mcp_put(info, "title", cJSON_CreateString("hotcell: Python in sealed cells"));
    hc_mcp_put(info, "version", cJSON_CreateString(HC_VERSION));
    hc_mcp_put(result, "instructions",
               cJSON_CreateString(
                   "run_python runs a Python program in a sealed cell; nothing of one program is left for "
                   "the next, except files: those it leaves in /output can be read with read_file, and given "
                   "to later programs as inputs. Sessions keep variables, too: session_open, session_run. "
                   "What programs may do and use stands in the description of run_python."));
    hc_mcp_reply(m, message->id, result);
}

static void ping(struct hc_mcp *m, const struct hc_rpc *message)
{
    hc_mcp_reply(m, message->id, cJSON_CreateObject());
}

static void list_tools(struct hc_mcp *m, const struct hc_rpc *message)
{
    if (hc_json_member(message->params, "cursor"))
        hc_mcp_error(m, message->id, HC_RPC_INVALID_PARAMS,
                     "cursor: none was given out; the list has one page");
    else
        hc_mcp_reply(m, message->id, hc_mcp_list_tools(m));
}

/* A notification, so it has no answer, even if the request is unknown or done. */
static void cancelled(struct hc_mcp *m, const struct hc_rpc *message)
{
    char id[HC_RPC_ID_MAX + 1];
    if (!hc_rpc_id(&message->json, hc_json_member(message->params, "requestId"), id) ||
        !(hc_programs_has(m, id) || hc_sessions_have(m, id)))
        return;
    hc_programs_cancel(m, id);
    hc_sessions_cancel(m, id);
    if (!hc_programs_has(m, id) && !hc_sessions_have(m, id)) /* a session that is closed is closed */
        m->host->drop(m, id);
}

void hc_mcp_notify_resources(struct hc_mcp *m)
{
    hc_mcp_notify(m, NULL, "notifications/resources/list_changed", NULL);
}

static const struct {
    const char *name;                                               /* name of the method */
    enum hc_rpc_kind kind;                                          /* kind of its messages */
    bool first;                                                     /* may come before initialize */
    void (*handle)(struct hc_mcp *m, const struct hc_rpc *message); /* answers a message */
} methods[] = {
    {"initialize", HC_RPC_REQUEST, true, initialize},
    {"ping", HC_RPC_REQUEST, true, ping},
    {"tools/list", HC_RPC_REQUEST, false, list_tools},
    {"tools/call", HC_RPC_REQUEST, false, hc_mcp_call_tool},
    {"resources/list", HC_RPC_REQUEST, false, hc_mcp_list_resources},
    {"resources/templates/list", HC_RPC_REQUEST, false, hc_mcp_list_templates},
    {"resources/read", HC_RPC_REQUEST, false, hc_mcp_read_resource},
    {"notifications/cancelled", HC_RPC_NOTIFICATION, false, cancelled},
};

void hc_mcp_handle(struct hc_mcp *m, const struct hc_rpc *message)
{
    if (message->kind == HC_RPC_RESPONSE)
        return; /* the server sends no requests */
    bool request = message->kind == HC_RPC_REQUEST;
    if (request && (hc_programs_has(m, message->id) || hc_sessions_have(m, message->id))) {
        hc_mcp_error(m, message->id, HC_RPC_INVALID_REQUEST,
                     "id: an earlier request with it is not answered yet");
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (methods[i].kind != message->kind || strcmp(methods[i].name, message->method) != 0)
            continue;
        if (m->version || methods[i].first)
            methods[i].handle(m, message);
        else if (request)
            hc_mcp_error(m, message->id, HC_RPC_INVALID_REQUEST, "expected initialize before %s",
                         methods[i].name);
        return;
    }
    if (request)
        hc_mcp_error(m, message->id, HC_RPC_NO_METHOD, "there is no method '%.80s' here", message->method);
}
