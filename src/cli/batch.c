/* hotcell batch - runs many programs, one for each line of a file. */
#include "cli/cli.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "batch/batch.h"
#include "cell/tree_check.h"
#include "cli/cancel.h"
#include "cli/request.h"
#include "client/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_DIR "hotcell-batch" /* directory of a batch without -o */

static const char help_head[] =
    "usage: hotcell batch [OPTION]... JOBS.jsonl|-\n"
    "       hotcell batch merge [--partial] -o DIR SHARD...\n"
    "Run jobs, one spec per line, in warm cells, and write down what came of each.\n"
    "See hotcell-batch(1).\n\n"
    "  -o, --output DIR          journal, results and files (" DEFAULT_DIR ")\n"
    "      --jobs N              at once (as many as there are processors)\n"
    "      --json                print results as they end, too\n"
    "      --ordered             results in the order of lines\n"
    "      --resume[=changed]    go on with what is in DIR: nothing that has ended runs again; changed:\n"
    "                            even under another policy, tree or limit than before\n"
    "      --rerun STATUS[,STATUS]...\n"
    "                            with --resume: but for what has ended like this\n"
    "      --retry N             so often again if the program was not begun (0)\n"
    "      --fail-fast           begin no more after one that is not ok\n"
    "      --max-failures N      .. after so many\n"
    "      --shard K/N           only every Nth line, from the Kth on\n"
    "      --warm[=yes|no|try]   have hotcelld run them; no: in warm cells of its own (HOTCELL_SOCKET)\n"
    "  -p, --policy POLICY       for all jobs: a name, or a path with a slash\n"
    "      --seed N, --label NAME=VALUE\n"
    "                            for all jobs, as in hotcell run\n\n"
    "Over the policy of all jobs (hotcell-policy(5)):\n";

static bool wants_any(const bool rerun[HC_BATCH_STATUSES])
{
    for (int i = 0; i < HC_BATCH_STATUSES; i++)
        if (rerun[i])
            return true;
    return false;
}

static bool tree_exists(const char *tree)
{
    struct hc_tree t;
    struct hc_error ignored;
    int rc = hc_tree_open(&t, tree, &ignored);
    hc_tree_finish(&t);
    return rc == 0;
}

/* Is there a tree of all jobs to be checked? A daemon has its own trees, and each line may name one. */
static bool has_tree(const struct hc_request *q)
{
    bool given = false;
    for (size_t i = 0; i < q->job.override_count; i++)
        given |= strcmp(q->job.overrides[i].opt->path, "tree") == 0;
    return q->warm == HC_WARM_NO && (given || tree_exists(q->policy.tree));
}

/* Checks the tree of all jobs first, as for a single job: if it is missing or was seen to be changed, every
 * job would fail. */
static int check_tree(const struct hc_request *q, struct hc_error *err)
{
    if (!has_tree(q))
        return 0;
    if (hc_policy_check_layers(&q->policy, err) < 0)
        return -1;
    return hc_tree_check_named(q->policy.tree, (enum hc_tree_check)q->policy.tree_check, false, err);
}

/* Compares all stamps of that tree, before it gets many jobs. */
static int check_tree_for_many(const void *request, struct hc_error *err)
{
    const struct hc_request *q = request;
    return hc_tree_check_named(q->policy.tree, HC_TREE_QUICK, true, err);
}

/* Checks that a daemon answers now, if it has to run the jobs. */
static int check_daemon(const struct hc_request *q, struct hc_error *err)
{
    struct hc_daemon_address place;
    if (q->warm != HC_WARM_YES)
        return 0;
    hc_autofd fd = hc_daemon_address_find(&place, err) < 0 ? -1 : hc_dial(&place, err);
    return fd < 0 ? -1 : 0;
}

/* What all jobs are under where a daemon runs them, which has policies and trees of its own: what is asked of
 * it. */
static cJSON *asked_of_daemon(const struct hc_request *q)
{
    cJSON *under = cJSON_CreateObject(), *options = cJSON_AddObjectToObject(under, "options");
    if (q->job.policy)
        (void)cJSON_AddStringToObject(under, "policy", q->job.policy);
    for (size_t i = 0; i < q->job.override_count; i++) {
        const struct hc_override *o = &q->job.overrides[i];
        cJSON_DeleteItemFromObjectCaseSensitive(options, o->opt->path); /* the last one holds */
        (void)cJSON_AddStringToObject(options, o->opt->path, o->text);
    }
    return under;
}

/* What all jobs are under here: the policy with all options, and which tree its "tree" is now. */
static cJSON *held_here(const struct hc_request *q)
{
    struct hc_tree t;
    struct hc_error ignored;
    cJSON *under = hc_policy_to_json(&q->policy);
    cJSON_DeleteItemFromObjectCaseSensitive(under, "description");
    if (hc_tree_open(&t, q->policy.tree, &ignored) == 0)
        (void)cJSON_AddStringToObject(under, "tree_sha256", t.id);
    hc_tree_finish(&t);
    return under;
}

/* The JSON that the journal gets of what all jobs are under; the caller frees it by cJSON_free. NULL: no
 * memory. */
static char *describe_under(const struct hc_request *q)
{
    cJSON *under = q->warm == HC_WARM_NO ? held_here(q) : asked_of_daemon(q);
    if (q->job.tenant)
        (void)cJSON_AddStringToObject(under, "tenant", q->job.tenant);
    char *text = cJSON_PrintUnformatted(under);
    cJSON_Delete(under);
    return text;
}

static int run_batch(struct hc_request *q, struct hc_error *err)
{
    static const enum hc_batch_where where[] = {
        [HC_WARM_NO] = HC_BATCH_HERE, [HC_WARM_TRY] = HC_BATCH_TRY, [HC_WARM_YES] = HC_BATCH_DAEMON};
    const struct hc_batch_options *asked = q->batch;
    bool rerun = wants_any(asked->rerun);
    if (rerun && !asked->resume)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "--rerun is for --resume");
    if (rerun && asked->ordered)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "--rerun takes results out of their order: not with --ordered");
    hc_autofd cancel = check_tree(q, err) < 0 || check_daemon(q, err) < 0 ? -1 : hc_cancel_open(err);
    if (cancel < 0)
        return -1;
    char *under = describe_under(q);
    if (!under)
        return hc_fail(err, ENOMEM, "batch");
    struct hc_batch batch = {
        .asked = asked,
        .given = &q->job,
        .output_dir = q->job.output_dir ? q->job.output_dir : DEFAULT_DIR,
        .under = under,
        .before_many = has_tree(q) && q->policy.tree_check == HC_TREE_QUICK ? check_tree_for_many : NULL,
        .request = q,
        .cancel_fd = cancel,
        .where = where[q->warm],
    };
    int status = hc_batch_serve(&batch, err);
    cJSON_free(under);
    if (status >= 0)
        hc_cancel_end_by(batch.signal);
    return status;
}

static const char merge_help[] =
    "usage: hotcell batch merge [--partial] -o DIR SHARD...\n"
    "Make one directory of those that shards of a batch have written, with results in the\n"
    "order of lines. See hotcell-batch(1).\n\n"
    "  -o, --output DIR   a new one\n"
    "      --partial      even if lines or shards are missing\n";

static int merge_shards(int argc, char **argv)
{
    static const struct option all[] = {{"output", required_argument, NULL, 'o'},
                                        {"partial", no_argument, NULL, 'p'},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};
    const char *output_dir = NULL;
    bool partial = false;
    struct hc_error err = {0};
    for (int opt; (opt = hc_getopt(argc, argv, ":ho:", all)) != -1;) {
        if (opt == 'h') {
            (void)fputs(merge_help, stdout);
            return HC_EXIT_OK;
        }
        if (opt == '?')
            return hc_unknown_option("batch merge", all, argv[optind - 1]);
        if (opt == ':')
            return hc_usage("batch merge", "a value is missing: %s", argv[optind - 1]);
        output_dir = opt == 'o' ? optarg : output_dir;
        partial |= opt == 'p';
    }
    if (!output_dir || optind == argc)
        return hc_usage("batch merge", "expected -o DIR and the directories of shards");
    int status = hc_batch_merge(output_dir, argv + optind, (size_t)(argc - optind), partial, &err);
    return status < 0 ? hc_report(&err) : status;
}

int hc_cmd_batch(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "merge") == 0)
        return merge_shards(argc - 1, argv + 1);
    struct hc_batch_options asked = {0};
    struct hc_request q = {.command = "batch", .live = true, .batch = &asked};
    return hc_request_serve(&q, argc, argv, help_head, run_batch);
}
