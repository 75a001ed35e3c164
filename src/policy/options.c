#include "policy/options.h"

#include "base/units.h"
#include "json/names.h"

#include <math.h>
#include <string.h>
#include <sys/param.h>

#define KIB (INT64_C(1) << 10) /* in bytes; so are the next three */
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define TIB (INT64_C(1) << 40)

#define SECOND INT64_C(1000)   /* in milliseconds */
#define HOUR   (3600 * SECOND) /* in milliseconds */

static const char *const enforcements[] = {"auto", "cgroup", "rlimits", NULL};
static const char *const output_modes[] = {"capped", "bind", NULL};
static const char *const overflows[] = {"truncate", "end", NULL};
static const char *const guards[] = {"on", "off", NULL};
static const char *const core_rules[] = {"off", "on", NULL};
static const char *const networks[] = {"none", "loopback", NULL};
static const char *const tree_checks[] = {"none", "quick", "stamps", "content", NULL};
static const char *const process_rules[] = {"none", "fork", NULL};

#define FIELD(name) .at = offsetof(struct hc_policy, name)

/* clang-format off */
const struct hc_option hc_options[] = {
#define HC_LIMIT(member, ...) {.at = offsetof(struct hc_policy, limits.member), __VA_ARGS__},
#include "policy/limits.def"
    {.path = "limits.enforcement", .flag = "enforcement", .arg = "HOW", .kind = HC_OPT_CHOICE,
     FIELD(enforcement), .choices = enforcements, .def = HC_ENFORCE_AUTO,
     .tighter = HC_TIGHTER_SAME,
     .help = "What enforces the limits: cgroup v2 controllers (cgroup), resource limits and the launcher's watch (rlimits), or "
             "cgroup v2 controllers where the host has them (auto)."},
    {.path = "output.mode", .flag = "output-mode", .arg = "MODE", .kind = HC_OPT_CHOICE, FIELD(output_mode),
     .choices = output_modes, .def = HC_OUTPUT_CAPPED,
     .tighter = HC_TIGHTER_SAME,
     .help = "Whether /output is held in memory and its files are moved to the output directory after the program (capped), or "
             "/output is the output directory itself (bind)."},
    {.path = "output.overflow", .flag = "overflow", .arg = "WHAT", .kind = HC_OPT_CHOICE, FIELD(overflow),
     .choices = overflows, .def = HC_OVERFLOW_TRUNCATE,
     .tighter = HC_TIGHTER_SAME, .any_cell = true,
     .help = "What happens when the program prints more than limits.stdout or limits.stderr: the rest is dropped (truncate), or "
             "the job is ended with status output (end)."},
    {.path = "guard", .flag = "guard", .arg = "ON", .kind = HC_OPT_CHOICE, FIELD(guard), .choices = guards,
     .def = HC_GUARD_ON,
     .tighter = HC_TIGHTER_SAME,
     .help = "Whether the policy's rules for Python code hold. The rules that the kernel enforces hold in either case."},
    {.path = "network", .flag = "network", .arg = "WHAT", .kind = HC_OPT_CHOICE, FIELD(network),
     .choices = networks, .def = HC_NETWORK_NONE,
     .tighter = HC_TIGHTER_SAME,
     .help = "Sockets that the program may make: only pairs that are connected from the start (none), or also sockets that reach the "
             "cell itself (loopback)."},
    {.path = "processes", .flag = "processes", .arg = "WHAT", .kind = HC_OPT_CHOICE, FIELD(processes),
     .choices = process_rules, .def = HC_PROCESSES_NONE,
     .tighter = HC_TIGHTER_SAME,
     .help = "Processes that the program may start: no processes (none), or copies of its own process (fork)."},
    {.path = "core_scheduling", .flag = "core-scheduling", .arg = "ON", .kind = HC_OPT_CHOICE, FIELD(cores),
     .choices = core_rules, .def = HC_CORES_SHARED,
     .tighter = HC_TIGHTER_SAME,
     .help = "Whether the kernel keeps all other processes off the processor core that runs the cell: the two threads of "
             "a core share caches, by which one can spy on the other."},
    {.path = "tree", .flag = "tree", .letter = 't', .arg = "TREE", .kind = HC_OPT_NAME, FIELD(tree),
     .def_name = "scientific",
     .tighter = HC_TIGHTER_LISTED,
     .help = "The root file system to run in: a name, or a path if it holds a slash."},
    {.path = "tree_check", .flag = "tree-check", .arg = "HOW", .kind = HC_OPT_CHOICE, FIELD(tree_check),
     .choices = tree_checks, .def = HC_TREE_QUICK,
     .tighter = HC_TIGHTER_SAME,
     .help = "How the tree is compared, before the program runs, with the tree that was built: not at all (none), the inodes and "
             "times of a part of its files (quick) or of all files (stamps), or the content of all files (content)."},
};
/* clang-format on */
const size_t hc_options_count = sizeof hc_options / sizeof *hc_options;

/* What a value of each kind looks like, for messages. */
static const char *const shapes[] = {
    [HC_OPT_SIZE] = "a size such as \"512M\"", [HC_OPT_DURATION] = "a duration such as \"60s\"",
    [HC_OPT_COUNT] = "a whole number",         [HC_OPT_MILLI] = "a number such as 1.5",
    [HC_OPT_NAME] = "a name or a path",
};

const struct hc_option *hc_option_by_flag(const char *flag)
{
    for (size_t i = 0; i < hc_options_count; i++)
        if (strcmp(hc_options[i].flag, flag) == 0)
            return &hc_options[i];
    return NULL;
}

const struct hc_option *hc_option_by_path(const char *path)
{
    for (size_t i = 0; i < hc_options_count; i++)
        if (strcmp(hc_options[i].path, path) == 0)
            return &hc_options[i];
    return NULL;
}

void hc_nearest_option(const char *section, const char *name, const char *const *others, char *out,
                       size_t size)
{
    struct hc_guess g = {.wanted = name};
    size_t len = strlen(section);
    hc_guess_consider_all(&g, others);
    for (size_t i = 0; i < hc_options_count; i++) {
        const char *path = hc_options[i].path, *dot = strchr(path, '.');
        const char *leaf = dot ? dot + 1 : path;
        bool here = dot ? (size_t)(dot - path) == len && strncmp(path, section, len) == 0 : len == 0;
        hc_guess_consider(&g, leaf, here ? leaf : path, !here);
    }
    hc_guess_say(&g, out, size);
}

int64_t *hc_limit_place(struct hc_limits *l, const struct hc_option *opt)
{
    return (int64_t *)(void *)((char *)l + (opt->at - offsetof(struct hc_policy, limits)));
}

int64_t hc_limit_value(const struct hc_limits *l, const struct hc_option *opt)
{
    return *(const int64_t *)(const void *)((const char *)l + (opt->at - offsetof(struct hc_policy, limits)));
}

#define NAME_SIZE sizeof(((struct hc_policy *)0)->tree) /* bytes of a field of HC_OPT_NAME */

void hc_option_init(void *record, const struct hc_option *opt)
{
    char *field = (char *)record + opt->at;
    if (opt->kind == HC_OPT_NAME)
        (void)strncpy(field, opt->def_name, NAME_SIZE - 1);
    else
        memcpy(field, &opt->def, sizeof opt->def);
}

static int64_t *number_field(void *record, const struct hc_option *opt)
{
    return (int64_t *)(void *)((char *)record + opt->at);
}

static int64_t number_of(const void *record, const struct hc_option *opt)
{
    return *(const int64_t *)(const void *)((const char *)record + opt->at);
}

static char *name_field(void *record, const struct hc_option *opt)
{
    return (char *)record + opt->at;
}

static const char *name_of(const void *record, const struct hc_option *opt)
{
    return (const char *)record + opt->at;
}

static void format_milli(int64_t value, char *out, size_t size)
{
    int n = snprintf(out, size, "%lld.%03lld", (long long)(value / 1000), (long long)(value % 1000));
    if (n < 0 || (size_t)n >= size)
        return;
    while (out[n - 1] == '0')
        n--;
    out[out[n - 1] == '.' ? n - 1 : n] = '\0';
}

static void format_number(const struct hc_option *opt, int64_t value, char *out, size_t size)
{
    switch (opt->kind) {
    case HC_OPT_SIZE:
        (void)hc_format_size(value, out, size);
        return;
    case HC_OPT_DURATION:
        if (value && value % HOUR == 0)
            (void)snprintf(out, size, "%lldh", (long long)(value / HOUR));
        else
            (void)hc_format_duration(value, out, size);
        return;
    case HC_OPT_MILLI:
        format_milli(value, out, size);
        return;
    case HC_OPT_CHOICE:
        (void)snprintf(out, size, "%s", opt->choices[value]);
        return;
    default:
        (void)snprintf(out, size, "%lld", (long long)value);
    }
}

void hc_option_format_bounds(const struct hc_option *opt, char *out, size_t size)
{
    if (opt->kind == HC_OPT_NAME) {
        (void)snprintf(out, size, "1 to %zu bytes", NAME_SIZE - 1);
        return;
    }
    if (opt->kind != HC_OPT_CHOICE) {
        char low[40], high[40];
        format_number(opt, opt->min, low, sizeof low);
        format_number(opt, opt->max, high, sizeof high);
        (void)snprintf(out, size, "%s to %s", low, high);
        return;
    }
    size_t used = 0;
    for (const char *const *c = opt->choices; *c && used < size; c++) {
        const char *joint = c == opt->choices ? "" : c[1] ? ", " : " or ";
        int n = snprintf(out + used, size - used, "%s%s", joint, *c);
        used += n < 0 ? 0 : (size_t)n;
    }
}

/* Why a value is refused; the caller adds the option and the place of the value. */
struct refusal {
    char text[256]; /* what was expected */
};

static int refuse_shape(struct refusal *why, const struct hc_option *opt, const char *got)
{
    (void)snprintf(why->text, sizeof why->text, "expected %s, got %s", shapes[opt->kind], got);
    return -1;
}

static int refuse_range(struct refusal *why, const struct hc_option *opt, const char *got)
{
    char bounds[128];
    hc_option_format_bounds(opt, bounds, sizeof bounds);
    (void)snprintf(why->text, sizeof why->text, "expected %s, got %s", bounds, got);
    return -1;
}

static int set_number(void *record, const struct hc_option *opt, int64_t value, const char *got,
                      struct refusal *why)
{
    char units[40];
    if (value >= 0) {
        format_number(opt, value, units, sizeof units);
        got = units;
    }
    if (value < opt->min || value > opt->max)
        return refuse_range(why, opt, got);
    *number_field(record, opt) = value;
    return 0;
}

static int set_choice(void *record, const struct hc_option *opt, const char *text, const char *got,
                      struct refusal *why)
{
    for (int64_t i = 0; opt->choices[i]; i++) {
        if (strcmp(opt->choices[i], text) == 0) {
            *number_field(record, opt) = i;
            return 0;
        }
    }
    return refuse_range(why, opt, got);
}

static int set_name(void *record, const struct hc_option *opt, const char *text, const char *got,
                    struct refusal *why)
{
    if (!*text || strlen(text) >= NAME_SIZE)
        return refuse_range(why, opt, *text ? "a longer one" : "an empty string");
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            return refuse_shape(why, opt, got);
    (void)snprintf(name_field(record, opt), NAME_SIZE, "%s", text);
    return 0;
}

static int parse_milli(const char *text, int64_t *milli)
{
    /* Without a unit the two scales are the same: thousandths of the number. */
    return text[strspn(text, "0123456789.")] ? -1 : hc_parse_duration(text, milli);
}

static int set_text(void *record, const struct hc_option *opt, const char *text, struct refusal *why)
{
    static int (*const parsers[])(const char *, int64_t *) = {
        [HC_OPT_SIZE] = hc_parse_size,
        [HC_OPT_DURATION] = hc_parse_duration,
        [HC_OPT_COUNT] = hc_parse_int,
        [HC_OPT_MILLI] = parse_milli,
    };
    char got[80];
    size_t len = strlen(text);
    (void)snprintf(got, sizeof got, "'%.60s%s'", text, len > 60 ? "..." : "");
    if (opt->kind == HC_OPT_CHOICE)
        return set_choice(record, opt, text, got, why);
    if (opt->kind == HC_OPT_NAME)
        return set_name(record, opt, text, got, why);
    int64_t value;
    if (parsers[opt->kind](text, &value) < 0)
        return refuse_shape(why, opt, got);
    return set_number(record, opt, value, got, why);
}

/* Sets an option to a number from JSON: bytes, a count, seconds, or processors. */
static int set_double(void *record, const struct hc_option *opt, double number, struct refusal *why)
{
    char got[40];
    (void)snprintf(got, sizeof got, "%.15g", number);
    if (opt->kind == HC_OPT_CHOICE)
        return refuse_range(why, opt, got);
    if (opt->kind == HC_OPT_NAME)
        return refuse_shape(why, opt, got);
    bool scaled = opt->kind == HC_OPT_DURATION || opt->kind == HC_OPT_MILLI;
    /* The number is rounded up to the next thousandth; 1e-6 is taken off first, as 16.1 * 1000 is a little
     * more than 16100. A positive time never becomes 0, as 0 may mean that there is no limit. */
    double value = scaled && number > 0 ? MAX(1, ceil(number * 1000 - 1e-6)) : number;
    if (!(number >= 0 && value <= 0x1p53))
        return refuse_range(why, opt, got);
    if (value != floor(value))
        return refuse_shape(why, opt, got);
    return set_number(record, opt, (int64_t)value, got, why);
}

int hc_option_set(void *record, const struct hc_option *opt, const char *text, struct hc_error *err)
{
    struct refusal why;
    if (set_text(record, opt, text, &why) < 0)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "%s", why.text);
    return 0;
}

int hc_overrides_apply(const struct hc_override *list, size_t count, struct hc_policy *p,
                       struct hc_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (hc_option_set(p, list[i].opt, list[i].text, err) < 0)
            return -1;
    return 0;
}

int hc_option_set_json(void *record, const struct hc_option *opt, const struct hc_json *j, const cJSON *node,
                       struct hc_error *err)
{
    struct refusal why;
    bool counts = opt->kind == HC_OPT_COUNT || opt->kind == HC_OPT_MILLI;
    int rc;
    if (cJSON_IsString(node) && !counts)
        rc = set_text(record, opt, node->valuestring, &why);
    else if (cJSON_IsNumber(node))
        rc = set_double(record, opt, node->valuedouble, &why);
    else if (opt->kind == HC_OPT_CHOICE)
        rc = refuse_range(&why, opt, hc_json_kind(node));
    else
        rc = refuse_shape(&why, opt, hc_json_kind(node));
    if (rc == 0)
        return 0;
    (void)hc_json_fail(j, node, false, err, "%s: %s", opt->path, why.text);
    return hc_exit_as(err, HC_EXIT_CONFIG);
}

void hc_option_format(const void *record, const struct hc_option *opt, char *out, size_t size)
{
    if (opt->kind == HC_OPT_NAME)
        (void)snprintf(out, size, "%s", name_of(record, opt));
    else
        format_number(opt, number_of(record, opt), out, size);
}

cJSON *hc_option_to_json(const void *record, const struct hc_option *opt)
{
    if (opt->kind == HC_OPT_COUNT)
        return cJSON_CreateNumber((double)number_of(record, opt));
    if (opt->kind == HC_OPT_MILLI)
        return cJSON_CreateNumber((double)number_of(record, opt) / 1000);
    char text[NAME_SIZE];
    hc_option_format(record, opt, text, sizeof text);
    return cJSON_CreateString(text);
}

cJSON *hc_option_to_plain_json(const void *record, const struct hc_option *opt)
{
    double number = opt->kind == HC_OPT_NAME ? 0 : (double)number_of(record, opt);
    switch (opt->kind) {
    case HC_OPT_SIZE:
    case HC_OPT_COUNT:
        return cJSON_CreateNumber(number);
    case HC_OPT_DURATION:
    case HC_OPT_MILLI:
        return cJSON_CreateNumber(number / 1000);
    default:
        return hc_option_to_json(record, opt);
    }
}

const char *hc_option_default(const struct hc_option *opt, char *out, size_t size)
{
    if (opt->kind == HC_OPT_NAME)
        return opt->def_name;
    format_number(opt, opt->def, out, size);
    return out;
}

#define HELP_INDENT 33 /* columns of blanks before each line of a help text but the first */
#define HELP_WIDTH  62 /* most characters of a help text in one line */

/* Prints `text` in lines of at most HELP_WIDTH characters, each but the first behind HELP_INDENT blanks. */
static void print_wrapped(FILE *out, const char *text)
{
    for (size_t used = 0; *text; text += *text == ' ') {
        size_t len = strcspn(text, " ");
        if (used && used + 1 + len > HELP_WIDTH) {
            (void)fprintf(out, "\n%*s", HELP_INDENT, "");
            used = 0;
        }
        (void)fprintf(out, "%s%.*s", used ? " " : "", (int)len, text);
        used += len + (used != 0);
        text += len;
    }
}

void hc_options_print_help(FILE *out)
{
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        char text[40], bounds[128], flag[64];
        hc_option_format_bounds(opt, bounds, sizeof bounds);
        (void)snprintf(flag, sizeof flag, "%c%c%s--%s %s", opt->letter ? '-' : ' ',
                       opt->letter ? opt->letter : ' ', opt->letter ? ", " : "  ", opt->flag, opt->arg);
        (void)fprintf(out, "  %-30s ", flag);
        print_wrapped(out, opt->help);
        (void)fprintf(out, "\n%*s", HELP_INDENT, "");
        if (opt->kind == HC_OPT_NAME)
            (void)fprintf(out, "Default: %s.\n", opt->def_name);
        else
            (void)fprintf(out, "%s; default: %s.\n", bounds, hc_option_default(opt, text, sizeof text));
    }
}
