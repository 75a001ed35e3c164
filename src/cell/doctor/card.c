/* The card: what the writer of a program, often a model, should know about the cell that will run it. It is
 * made from the effective policy and the tree, first as JSON; the text says the same. */
#include "cell/card.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/units.h"
#include "cell/tree.h"
#include "policy/options.h"
#include "policy/syscalls.h"
#include "policy/tighten.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MAX_META (1u << 20) /* most bytes of a tree's meta.json */
#define WIDTH    100        /* most columns of a line */

/* ---- the card as JSON ---- */

static cJSON *copy_rule(const struct hc_policy *p, const char *section, const char *key)
{
    return cJSON_Duplicate(hc_rules_get(p->rules, section, key), true);
}

/* A list of the policy; if the policy does not have it, the given default. */
static cJSON *copy_rule_or(const struct hc_policy *p, const char *section, const char *key,
                           const char *const *defaults)
{
    cJSON *list = copy_rule(p, section, key);
    if (list || !defaults)
        return list;
    list = cJSON_CreateArray();
    for (; list && *defaults; defaults++)
        (void)cJSON_AddItemToArray(list, cJSON_CreateString(*defaults));
    return list;
}

static void add_member(cJSON *to, const char *name, cJSON *value)
{
    if (value && !cJSON_AddItemToObject(to, name, value))
        cJSON_Delete(value);
}

static void add_rule(cJSON *to, const char *name, const struct hc_policy *p, const char *section,
                     const char *key)
{
    add_member(to, name, copy_rule(p, section, key));
}

/* Add the libraries of the tree's layers to those of the tree, and list the modules of the layers. */
static void add_layers(cJSON *card, cJSON *libraries, const struct hc_tree *tree)
{
    cJSON *modules = tree->layer_count ? cJSON_AddArrayToObject(card, "modules") : NULL;
    for (size_t i = 0; i < tree->layer_count; i++) {
        cJSON *meta = hc_tree_meta(&tree->layers[i]), *item;
        cJSON *own = cJSON_GetObjectItemCaseSensitive(meta, "distributions");
        while (own && (item = own->child)) {
            char *name = item->string;
            add_member(libraries, name, cJSON_DetachItemViaPointer(own, item));
        }
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(meta, "modules"))
        {
            const char *name = cJSON_GetStringValue(item);
            if (name && *name != '_')
                (void)cJSON_AddItemToArray(modules, cJSON_CreateString(name));
        }
        cJSON_Delete(meta);
    }
}

/* Add Python and the libraries with their versions, from the builder's note beside the tree. */
static int add_tree(cJSON *card, const struct hc_policy *p, struct hc_error *err)
{
    struct hc_tree tree;
    if (hc_tree_open(&tree, p->tree, err) < 0)
        return -1;
    add_member(card, "tree", cJSON_CreateString(p->tree));
    hc_autobuf text = {0};
    int rc = hc_read_file(tree.root_fd, "../meta.json", &text, MAX_META, err);
    cJSON *meta = rc == 0 ? cJSON_ParseWithLength(text.data, text.len) : NULL;
    if (rc == 0 && !meta)
        rc = hc_fail(err, 0, "meta.json of the tree %s is not JSON", p->tree);
    add_layers(card, cJSON_GetObjectItemCaseSensitive(meta, "distributions"), &tree);
    hc_tree_finish(&tree);
    add_member(card, "python", cJSON_DetachItemFromObjectCaseSensitive(meta, "python"));
    add_member(card, "libraries", cJSON_DetachItemFromObjectCaseSensitive(meta, "distributions"));
    cJSON_Delete(meta);
    return rc;
}

static void add_limits(cJSON *card, const struct hc_policy *p)
{
    cJSON *limits = cJSON_AddObjectToObject(card, "limits");
    for (size_t i = 0; i < hc_options_count; i++)
        if (strncmp(hc_options[i].path, "limits.", 7) == 0)
            add_member(limits, hc_options[i].path + 7, hc_option_to_plain_json(p, &hc_options[i]));
}

/* Add the policy's maxima: limits up to which senders of jobs may ask for more. */
static void add_maxima(cJSON *card, const struct hc_policy *p)
{
    cJSON *max = hc_maxima_to_json(&p->max);
    if (max && max->child)
        add_member(card, "maxima", max);
    else
        cJSON_Delete(max);
}

static void add_files(cJSON *card, const struct hc_policy *p)
{
    static const char *const everywhere[] = {"/", NULL}, *const zones[] = {"/output", "/tmp", NULL};
    bool guard = p->guard == HC_GUARD_ON;
    cJSON *files = cJSON_AddObjectToObject(card, "files");
    add_member(files, "working_directory", cJSON_CreateString("/output"));
    add_member(files, "inputs", cJSON_CreateString("/input"));
    add_member(files, "kept", cJSON_CreateString("/output"));
    static const struct hc_policy none = {.rules = NULL};
    add_member(files, "read", copy_rule_or(guard ? p : &none, "files", "read", everywhere));
    add_member(files, "write", copy_rule_or(guard ? p : &none, "files", "write", zones));
}

static void add_prepared(cJSON *card, const struct hc_policy *p)
{
    cJSON *there = cJSON_AddObjectToObject(card, "prepared");
    add_rule(there, "names", p, "prelude", "names");
    add_rule(there, "aliases", p, "prelude", "aliases");
    add_rule(there, "code", p, "prelude", "code");
    add_member(there, "results", cJSON_CreateBool(hc_rules_bool(p->rules, "prelude", "results", false)));
}

/* Rules of the guard that the writer of a program can follow. */
static void add_rules(cJSON *card, const struct hc_policy *p)
{
    static const char *const keys[][3] = {
        {"imports_allowed", "imports", "allow"},
        {"imports_denied", "imports", "deny"},
        {"calls_denied", "calls", "deny"},
        {"builtins_allowed", "builtins", "allow"},
        {"builtins_denied", "builtins", "deny"},
        {"builtins_refused", "builtins", "refuse"},
        {"attributes_denied", "attributes", "deny"},
        {"attributes_allowed", "attributes", "allow"},
        {"private_attributes_denied", "attributes", "private"},
        {"names_denied", "names", "deny"},
        {"statements_denied", "code", "ban"},
        {"characters", "code", "max_chars"},
        {"imports_exact", "imports", "exact"},
        {"writes", "code", "writes"},
        {"write_types", "code", "write_types"},
        {"threads", "audit", "threads"},
    };
    cJSON *rules = cJSON_AddObjectToObject(card, "rules");
    for (size_t i = 0; p->guard == HC_GUARD_ON && i < sizeof keys / sizeof *keys; i++)
        add_rule(rules, keys[i][0], p, keys[i][1], keys[i][2]);
    /* Modules of layers are added to a list of those that may be imported (cell/launch/tree_layers.c). */
    cJSON *imports = cJSON_GetObjectItemCaseSensitive(rules, "imports_allowed");
    const cJSON *module;
    cJSON_ArrayForEach(module, cJSON_GetObjectItemCaseSensitive(card, "modules"))
    {
        if (cJSON_IsArray(imports))
            (void)cJSON_AddItemToArray(imports, cJSON_CreateString(module->valuestring));
    }
}

static void add_figures(cJSON *card, const struct hc_policy *p)
{
    static const char *const png[] = {"png", NULL}, *const json[] = {"json", NULL};
    cJSON *figures = cJSON_AddObjectToObject(card, "figures");
    add_member(figures, "formats", copy_rule_or(p, "figures", "formats", png));
    add_member(figures, "plotly", copy_rule_or(p, "figures", "plotly", json));
    add_member(figures, "which", cJSON_CreateString(hc_rules_text(p->rules, "figures", "which", "all")));
    add_member(figures, "show", cJSON_CreateString(hc_rules_text(p->rules, "figures", "show", "save")));
    add_member(figures, "directory",
               cJSON_CreateString(hc_rules_text(p->rules, "figures", "directory", "figures")));
    add_rule(figures, "fonts", p, "figures", "fonts");
}

static bool is_listed(const cJSON *names, const char *name)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, names)
    {
        if (strcmp(cJSON_GetStringValue(item), name) == 0)
            return true;
    }
    return false;
}

/* Whether programs have this built-in function, and may call it. */
static bool has_builtin(const struct hc_policy *p, const char *name)
{
    const cJSON *allowed = hc_rules_get(p->rules, "builtins", "allow");
    return p->guard != HC_GUARD_ON || ((!allowed || is_listed(allowed, name)) &&
                                       !is_listed(hc_rules_get(p->rules, "builtins", "deny"), name) &&
                                       !is_listed(hc_rules_get(p->rules, "builtins", "refuse"), name));
}

static cJSON *make_card(const struct hc_policy *p, struct hc_error *err)
{
    cJSON *card = cJSON_CreateObject();
    add_member(card, "policy", cJSON_CreateString(p->name));
    if (add_tree(card, p, err) < 0) {
        cJSON_Delete(card);
        return NULL;
    }
    add_member(card, "guard", cJSON_CreateBool(p->guard == HC_GUARD_ON));
    add_member(card, "commands",
               hc_policy_has_commands(p) ? cJSON_Duplicate(hc_rules_get(p->rules, "commands", "allow"), true)
                                         : cJSON_CreateArray());
    add_member(card, "network", cJSON_CreateString(p->network == HC_NETWORK_NONE ? "none" : "loopback"));
    add_member(card, "processes", cJSON_CreateString(p->processes == HC_PROCESSES_NONE ? "none" : "fork"));
    add_member(card, "code_from_memory", cJSON_CreateBool(!hc_syscalls_no_new_code(p->rules)));
    add_member(card, "display", cJSON_CreateBool(has_builtin(p, "display")));
    add_prepared(card, p);
    add_files(card, p);
    add_limits(card, p);
    add_maxima(card, p);
    add_rules(card, p);
    add_figures(card, p);
    add_member(card, "output_is_redacted",
               cJSON_CreateBool(hc_rules_get(p->rules, "redact", "rules") != NULL));
    add_rule(card, "output_characters", p, "redact", "max_chars");
    return card;
}

/* ---- the card as text ---- */

static const cJSON *at(const cJSON *card, const char *section, const char *key)
{
    return hc_rules_get(card, section, key); /* the card is an object of objects, as rules are */
}

void hc_join_names(struct hc_buf *out, const cJSON *list, int most)
{
    int count = 0, left = cJSON_GetArraySize(list) - most;
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        if (most > 0 && count == most)
            break;
        (void)hc_buf_fmt(out, "%s%s", count++ ? ", " : "", item->valuestring);
    }
    if (most > 0 && left > 0)
        (void)hc_buf_fmt(out, " and %d more", left);
}

void hc_print_wrapped(FILE *out, const char *first, const char *text)
{
    int indent = (int)strlen(first);
    int column = fprintf(out, "%s", first);
    for (const char *word = text; *word;) {
        int len = (int)strcspn(word, " ");
        if (column > indent && column + 1 + len > WIDTH)
            column = fprintf(out, "\n%*s", indent, "") - 1;
        column += fprintf(out, "%s%.*s", column > indent ? " " : "", len, word);
        word += len;
        word += strspn(word, " ");
    }
    (void)fputc('\n', out);
}

static void print_list(FILE *out, const char *first, const cJSON *list, int most, const char *rest)
{
    if (!list || !list->child)
        return;
    hc_autobuf text = {0};
    hc_join_names(&text, list, most);
    (void)hc_buf_str(&text, rest);
    if (!text.failed)
        hc_print_wrapped(out, first, text.data);
}

static void print_pairs(FILE *out, const char *first, const cJSON *object, const char *joint)
{
    hc_autobuf text = {0};
    const cJSON *item;
    cJSON_ArrayForEach(item, object)
    {
        const char *value = cJSON_GetStringValue(item);
        char *number = value ? NULL : cJSON_PrintUnformatted(item);
        (void)hc_buf_fmt(&text, "%s%s%s%s", text.len ? ", " : "", item->string, joint,
                         value    ? value
                         : number ? number
                                  : "?");
        cJSON_free(number);
    }
    if (text.len && !text.failed)
        hc_print_wrapped(out, first, text.data);
}

static void print_limits(FILE *out, const struct hc_policy *p)
{
    static const struct {
        const char *path, *before, *behind;
    } said[] = {
        {"limits.timeout", "", " by the clock"},  {"limits.memory", ", ", " of memory"},
        {"limits.pids", ", ", " threads"},        {"limits.output", ", ", " of files in /output"},
        {"limits.tmp", ", ", " in /tmp"},         {"limits.stdout", ", ", " of printed text"},
        {"limits.value", ", ", " for the value"},
    };
    hc_autobuf text = {0};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        const struct hc_option *opt = hc_option_by_path(said[i].path);
        char value[80];
        hc_option_format(p, opt, value, sizeof value);
        bool size = opt->kind == HC_OPT_SIZE && value[strspn(value, "0123456789.")];
        const char *unit = !size ? opt->kind == HC_OPT_SIZE ? " bytes" : "" : "iB";
        (void)hc_buf_fmt(&text, "%s%s%s%s", said[i].before, value, unit, said[i].behind);
    }
    (void)hc_buf_str(&text, ".");
    if (p->limits.grace_ms) {
        char grace[32];
        (void)hc_buf_fmt(
            &text,
            " When the time is over, the program gets a TimeoutError, and has %s more to end in; "
            "what it has by then is kept.",
            hc_format_duration(p->limits.grace_ms, grace, sizeof grace));
    }
    if (!text.failed)
        hc_print_wrapped(out, "Limits:   ", text.data);
}

static void print_prepared(FILE *out, const cJSON *card)
{
    (void)fputs("There already, without an import:\n", out);
    hc_print_wrapped(out, "  ", "the job's inputs and variables, under their own names");
    print_pairs(out, "  modules: ", at(card, "prepared", "names"), " = ");
    print_pairs(out, "  other names: ", at(card, "prepared", "aliases"), " = ");
    if (cJSON_IsTrue(at(card, "prepared", "results")))
        hc_print_wrapped(
            out, "  ",
            "results: a dict to fill, with summary_statistics, test_results, plots, assumptions and "
            "interpretation");
    const char *code = cJSON_GetStringValue(at(card, "prepared", "code"));
    if (!code)
        return;
    (void)fputs("  and what this code did:\n", out);
    for (const char *line = code; *line; line += *line ? 1 : 0) {
        size_t len = strcspn(line, "\n");
        (void)fprintf(out, "    %.*s\n", (int)len, line);
        line += len;
    }
}

static void print_files(FILE *out, const cJSON *card)
{
    print_list(
        out, "Reading:  ", at(card, "files", "read"), 0,
        ". Inputs are also files in /input, and small ones in the working directory under their own names.");
    print_list(out, "Writing:  ", at(card, "files", "write"), 0,
               ". The working directory is /output; what is left there is kept, all else is thrown away.");
}

/* Print which objects may be changed in place, if writes are guarded. */
static void print_writes(FILE *out, const cJSON *card)
{
    const char *writes = cJSON_GetStringValue(at(card, "rules", "writes"));
    const cJSON *types = at(card, "rules", "write_types");
    if (!writes || strcmp(writes, "guarded") != 0)
        return;
    hc_print_wrapped(out, "  - ", "Setting attributes to functions or classes, and code made at run time.");
    hc_autobuf text = {0}, names = {0};
    hc_join_names(&names, types, 0);
    (void)hc_buf_fmt(&text,
                     "Changing objects in place, except those of the program's own classes%s%s. "
                     "Make new ones: df.assign(...), np.where(...).",
                     names.len ? " and of: " : "", names.len ? names.data : "");
    if (types && !text.failed)
        hc_print_wrapped(out, "  - ", text.data);
}

/* Print what is refused, and what to do instead. */
static void print_refusals(FILE *out, const cJSON *card)
{
    const cJSON *rules = cJSON_GetObjectItemCaseSensitive(card, "rules");
    if (strcmp(hc_json_text_or(card, "network", NULL), "none") == 0)
        hc_print_wrapped(out, "  - ", "Network: there is none. Work with the inputs that are given.");
    else
        hc_print_wrapped(out, "  - ", "Network: the cell's own loopback interface alone.");
    const cJSON *commands = cJSON_GetObjectItemCaseSensitive(card, "commands");
    if (!commands || !commands->child)
        hc_print_wrapped(out, "  - ",
                         "Other programs: there are none, no shell and no pip. Use the libraries above.");
    else if (strcmp(commands->child->valuestring, "*") == 0)
        hc_print_wrapped(
            out, "  - ",
            "Other programs, except those in /usr/bin and of layers; there is no pip. Files that are "
            "written cannot be executed; scripts run as arguments of their interpreter.");
    else
        print_list(out, "  - Other programs, except: ", commands, 0, ".");
    if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(card, "code_from_memory")))
        hc_print_wrapped(out, "  - ",
                         "Machine code that is made at run time: callbacks of ctypes, and compilers such "
                         "as numba.");
    if (!hc_json_is_true(card, "guard"))
        return;
    bool exact = cJSON_IsTrue(at(card, "rules", "imports_exact"));
    print_list(out, "  - Imports, except of: ", at(card, "rules", "imports_allowed"), 0,
               exact ? ". A submodule must be named here itself." : ", and what is in them.");
    print_list(out, "  - Imports of: ", at(card, "rules", "imports_denied"), 24, ".");
    print_list(out, "  - Calls of: ", at(card, "rules", "calls_denied"), 0,
               ". Pass data with inputs, and parse literals with json or ast.literal_eval.");
    print_list(out, "  - Built-in functions that fail: ", at(card, "rules", "builtins_refused"), 0, ".");
    print_list(out, "  - Built-in names that are missing: ", at(card, "rules", "builtins_denied"), 0, ".");
    print_list(out, "  - Built-in names other than: ", at(card, "rules", "builtins_allowed"), 0, ".");
    print_list(out, "  - Attributes: ", at(card, "rules", "attributes_denied"), 16,
               ". Use the public interface.");
    if (hc_json_is_true(rules, "private_attributes_denied"))
        print_list(out, "  - Attributes that begin with an underscore, except: ",
                   at(card, "rules", "attributes_allowed"), 0, ".");
    print_list(out, "  - The names: ", at(card, "rules", "names_denied"), 0, ".");
    print_list(out, "  - Statements: ", at(card, "rules", "statements_denied"), 0, ".");
    print_writes(out, card);
    if (cJSON_IsFalse(at(card, "rules", "threads")))
        hc_print_wrapped(out, "  - ", "Threads, except those of asyncio.to_thread().");
    const cJSON *characters = at(card, "rules", "characters");
    if (cJSON_IsNumber(characters) && characters->valuedouble > 0)
        (void)fprintf(out, "  - Programs of more than %.0f characters.\n", characters->valuedouble);
}

static void print_secrets(FILE *out, const cJSON *card)
{
    const cJSON *chars = cJSON_GetObjectItemCaseSensitive(card, "output_characters");
    bool redacted = hc_json_is_true(card, "output_is_redacted");
    hc_autobuf text = {0};
    if (redacted)
        (void)hc_buf_str(&text, "Secrets are replaced in printed text.");
    if (cJSON_IsNumber(chars) && chars->valuedouble > 0)
        (void)hc_buf_fmt(&text, "%sOf printed text the first %.0f characters.", redacted ? " " : "",
                         chars->valuedouble);
    if (text.len && !text.failed)
        hc_print_wrapped(out, "  - ", text.data);
}

/* What plt.show() does, for the writer of a program. */
static const char *shown_words(const char *show)
{
    if (strcmp(show, "save") == 0)
        return "saves and closes all open ones, so that each show() ends its figures";
    if (strcmp(show, "current") == 0)
        return "saves and closes the current one";
    return strcmp(show, "keep") == 0 ? "saves them and leaves them open" : "does nothing";
}

static void print_returns(FILE *out, const cJSON *card)
{
    hc_print_wrapped(out, "  - ",
                     cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(card, "display"))
                         ? "What is printed, what display(x) shows, and the value of the last expression."
                         : "What is printed, and the value of the last expression.");
    const char *show = cJSON_GetStringValue(at(card, "figures", "show"));
    const char *which = cJSON_GetStringValue(at(card, "figures", "which"));
    const char *directory = cJSON_GetStringValue(at(card, "figures", "directory"));
    hc_autobuf text = {0}, formats = {0}, plotly = {0}, fonts = {0};
    hc_join_names(&formats, at(card, "figures", "formats"), 0);
    hc_join_names(&plotly, at(card, "figures", "plotly"), 0);
    (void)hc_buf_fmt(&text,
                     "Figures: matplotlib's as %s in /output/%s: ", formats.len ? formats.data : "nothing",
                     directory);
    (void)hc_buf_fmt(&text, "%s open at the end; plt.show() %s.",
                     strcmp(which, "first") == 0 ? "the first that is" : "all that are", shown_words(show));
    if (plotly.len)
        (void)hc_buf_fmt(&text, " Plotly's as %s: those that are shown or have a name.", plotly.data);
    hc_join_names(&fonts, at(card, "figures", "fonts"), 0);
    if (fonts.len)
        (void)hc_buf_fmt(&text, " Fonts: %s.", fonts.data);
    if (!text.failed)
        hc_print_wrapped(out, "  - ", text.data);
    hc_print_wrapped(out, "  - ", "Files in /output.");
    print_secrets(out, card);
}

static void print_text(FILE *out, const cJSON *card, const struct hc_policy *p)
{
    const char *python = hc_json_text_or(card, "python", NULL);
    (void)fprintf(out, "This program runs in a sealed cell with Python %s on Linux, under the policy %s.\n\n",
                  python ? python : "3", p->name);
    const cJSON *libraries = cJSON_GetObjectItemCaseSensitive(card, "libraries");
    if (libraries && libraries->child)
        print_pairs(out, "Libraries: ", libraries, " ");
    else
        (void)fputs("Libraries: the standard library alone.\n", out);
    print_list(out, "Modules beside these: ", cJSON_GetObjectItemCaseSensitive(card, "modules"), 0, "");
    (void)fputc('\n', out);
    print_prepared(out, card);
    (void)fputc('\n', out);
    print_files(out, card);
    print_limits(out, p);
    print_pairs(out, "Maxima:   ", cJSON_GetObjectItemCaseSensitive(card, "maxima"), " ");
    (void)fputs("\nNot allowed:\n", out);
    print_refusals(out, card);
    (void)fputs("\nWhat comes back:\n", out);
    print_returns(out, card);
}

cJSON *hc_card_of_session(const struct hc_policy *p)
{
    static const char *const limits[] = {"limits.timeout",      "limits.memory",       "limits.output",
                                         "limits.session_idle", "limits.session_life", "limits.session_cpu",
                                         "limits.session_runs"};
    cJSON *card = cJSON_CreateObject();
    add_member(card, "policy", cJSON_CreateString(p->name));
    add_member(card, "tree", cJSON_CreateString(p->tree));
    cJSON *values = cJSON_AddObjectToObject(card, "limits");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        add_member(values, limits[i] + sizeof "limits." - 1,
                   hc_option_to_plain_json(p, hc_option_by_path(limits[i])));
    return card;
}

int hc_card_print(const struct hc_policy *p, bool json, FILE *out, struct hc_error *err)
{
    cJSON *card = make_card(p, err);
    if (!card)
        return -1;
    if (json) {
        char *text = cJSON_Print(card);
        if (text)
            (void)fprintf(out, "%s\n", text);
        cJSON_free(text);
    } else {
        print_text(out, card, p);
    }
    cJSON_Delete(card);
    return 0;
}
