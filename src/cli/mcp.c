/* hotcell mcp - cells for assistants, over the Model Context Protocol on standard input and output. */
#include "cli/cli.h"

#include "base/fd.h"
#include "cell/card.h"
#include "cell/tools.h"
#include "cell/tree_check.h"
#include "cli/cancel.h"
#include "cli/request.h"
#include "mcp/child/mcp.h"
#include "mcp/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Static_assert(HC_MAX_SERVED <= HC_MCP_JOBS, "there is a place for each program that --jobs allows");

#define DEFAULT_JOBS  4                  /* programs that run at one time */
#define DEFAULT_STORE ((int64_t)1 << 30) /* bytes of stored results */

static const char help_head[] =
    "usage: hotcell mcp [OPTION]...\n"
    "Serve the Model Context Protocol on standard input and output: tools that run Python\n"
    "programs in cells and keep their files. See hotcell-mcp(1).\n\n"
    "  -p, --policy POLICY       what cells may do: a name, or a path with a slash (default)\n"
    "  -o, --output DIR          keep files in a new directory below DIR, also afterwards\n"
    "      --jobs N              programs at once (4)\n"
    "      --store SIZE          results that are kept; older ones go (1G)\n"
    "      --input NAME=FILE     data for every program: a variable, and read-only in /input\n"
    "      --var NAME=JSON       a value for every program\n"
    "      --tool NAME=COMMAND   what programs may have done on the host\n"
    "      --seed N              make hashes and random numbers repeatable\n"
    "      --label NAME=VALUE    goes into the manifests\n\n"
    "Over the policy (hotcell-policy(5)):\n";

/* Prints the policy's card, with the names of the inputs and variables that every program gets. `*text` is
 * freed by the caller. */
static int make_card(const struct hc_request *q, char **text, struct hc_error *err)
{
    size_t size;
    int rc = -1;
    FILE *out = open_memstream(text, &size);
    if (out) {
        rc = hc_card_print(&q->policy, false, out, err);
        const char *joint = "\nGiven to every program by the host: ";
        for (size_t i = 0; i < q->job.input_count; i++, joint = ", ")
            (void)fprintf(out, "%s%s", joint, q->job.inputs[i].name);
        const cJSON *var;
        cJSON_ArrayForEach(var, q->job.vars)
        {
            (void)fprintf(out, "%s%s", joint, var->string);
            joint = ", ";
        }
        if (joint[0] == ',')
            (void)fputs(".\n", out);
    }
    if (!out || fclose(out) != 0)
        return hc_fail(err, ENOMEM, "make the card");
    return rc;
}

/* Checks inputs, tools and tree at the start: the person who configures the server learns of an error that
 * would otherwise end every program. */
static int check_given(const struct hc_request *q, struct hc_error *err)
{
    for (size_t i = 0; i < q->job.input_count; i++)
        if (access(q->job.inputs[i].path, R_OK) < 0)
            return hc_fail_as(err, HC_EXIT_DATA, errno, "input '%s': %s", q->job.inputs[i].name,
                              q->job.inputs[i].path);
    struct hc_toolbox *tools = NULL;
    if (q->policy.tools.count && hc_toolbox_new(&tools, &q->policy.tools, -1, 0, NULL, NULL, err) < 0)
        return -1;
    hc_toolbox_free(tools);
    return hc_tree_check_named(q->policy.tree, (enum hc_tree_check)q->policy.tree_check, true, err);
}

static int serve_mcp(struct hc_request *q, struct hc_error *err)
{
    char *card = NULL;
    if (check_given(q, err) < 0)
        return -1;
    hc_autofd cancel = make_card(q, &card, err) < 0 ? -1 : hc_cancel_open(err);
    if (cancel < 0) {
        free(card);
        return -1;
    }
    cJSON *session_card = hc_card_of_session(&q->policy);
    struct hc_mcp_config config = {
        .output_dir = q->job.output_dir,
        .jobs = q->jobs ? (int)q->jobs : DEFAULT_JOBS,
        .store_bytes = q->store ? q->store : DEFAULT_STORE,
        .timeout_ms = q->policy.limits.timeout_ms,
        .commands = hc_policy_has_commands(&q->policy),
        .card = card,
        .session_card = session_card,
        .options = (const char *const *)q->given,
        .option_count = q->given_count,
        .cancel_fd = cancel,
    };
    int rc = hc_mcp_serve(&config, err);
    free(card);
    cJSON_Delete(session_card);
    hc_cancel_end(cancel);
    return rc < 0 ? -1 : HC_EXIT_OK;
}

int hc_cmd_mcp(int argc, char **argv)
{
    struct hc_request q = {.command = "mcp", .live = true, .serve = true};
    return hc_request_serve(&q, argc, argv, help_head, serve_mcp);
}
