#include "cli/option_facts.h"

#include "job/job.h"
#include "json/json.h"
#include "policy/options.h"

#include <string.h>

static const char section[] = "limits.";

static const char *const enforced[] = {
#define HC_ENFORCED(name) #name,
#include "policy/limits.def"
};
static const size_t enforced_count = sizeof enforced / sizeof *enforced;

static bool is_limit(const struct hc_option *opt)
{
    return strncmp(opt->path, section, strlen(section)) == 0;
}

static void print_choices(FILE *out, const struct hc_option *opt)
{
    (void)fputs("{\"enum\": [", out);
    for (const char *const *c = opt->choices; *c; c++)
        (void)fprintf(out, "%s\"%s\"", c == opt->choices ? "" : ", ", *c);
    (void)fputs("]}", out);
}

/* Times are seconds and processors may be parts of one: not whole numbers. */
static void print_number(FILE *out, const struct hc_option *opt)
{
    hc_autobuf text = {0};
    bool whole = opt->kind == HC_OPT_SIZE || opt->kind == HC_OPT_COUNT;
    hc_json_quote(&text, opt->plain, strlen(opt->plain));
    (void)fprintf(out, "{\"description\": %s, \"type\": \"%s\", \"minimum\": %d}", text.data ? text.data : "",
                  whole ? "integer" : "number", opt->kind == HC_OPT_COUNT && opt->min > 0);
}

void hc_facts_print_limits_json(FILE *out)
{
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (!is_limit(opt))
            continue;
        (void)fprintf(out, "        \"%s\": ", opt->path + strlen(section));
        if (opt->kind == HC_OPT_CHOICE)
            print_choices(out, opt);
        else
            print_number(out, opt);
        (void)fputs(",\n", out);
    }
}

/* What a request may give for a limit: sizes and durations as numbers or as text. */
static void print_asked(FILE *out, const struct hc_option *opt)
{
    static const char *const types[] = {
        [HC_OPT_SIZE] = "[\"string\", \"integer\"]",
        [HC_OPT_DURATION] = "[\"string\", \"number\"]",
        [HC_OPT_COUNT] = "\"integer\"",
        [HC_OPT_MILLI] = "\"number\"",
    };
    hc_autobuf help = {0};
    hc_json_quote(&help, opt->help, strlen(opt->help));
    (void)fprintf(out, "{\"description\": %s, \"type\": %s}", help.data ? help.data : "\"\"",
                  types[opt->kind]);
}

static void print_asked_limits(FILE *out, bool of_run)
{
    bool first = true;
    for (size_t i = 0; i < hc_options_count; i++) {
        const struct hc_option *opt = &hc_options[i];
        if (!is_limit(opt) || (of_run && !opt->of_run))
            continue;
        (void)fprintf(out, "%s     \"%s\": ", first ? "" : ",\n", opt->path + strlen(section));
        first = false;
        if (opt->kind == HC_OPT_CHOICE)
            print_choices(out, opt);
        else
            print_asked(out, opt);
    }
    (void)fputs("\n", out);
}

void hc_facts_print_job_limits_json(FILE *out)
{
    print_asked_limits(out, false);
}

void hc_facts_print_run_limits_json(FILE *out)
{
    print_asked_limits(out, true);
}

void hc_facts_print_limit_names_json(FILE *out)
{
    for (size_t i = 0; i < hc_options_count; i++)
        if (is_limit(&hc_options[i]))
            (void)fprintf(out, "        \"%s\",\n", hc_options[i].path + strlen(section));
}

void hc_facts_print_enforced_json(FILE *out)
{
    static const char value[] = "{\n"
                                "              \"description\": \"What enforced it: \\\"cgroup\\\", "
                                "\\\"rlimit+watch\\\", \\\"tmpfs\\\", \\\"none\\\"...\",\n"
                                "              \"type\": [\"string\", \"null\"],\n"
                                "              \"minLength\": 1\n"
                                "            }";
    for (size_t i = 0; i < enforced_count; i++)
        (void)fprintf(out, "            \"%s\": %s%s\n", enforced[i], value,
                      i + 1 < enforced_count ? "," : "");
}

void hc_facts_print_enforced_names_json(FILE *out)
{
    for (size_t i = 0; i < enforced_count; i++)
        (void)fprintf(out, "            \"%s\"%s\n", enforced[i], i + 1 < enforced_count ? "," : "");
}

static void print_job_options(FILE *out, unsigned spec)
{
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        if (row->specs & spec)
            (void)fprintf(out, "     \"%s\": {\n      \"type\": \"%s\"\n     },\n", row->name,
                          row->is_flag ? "boolean" : "string");
    }
}

void hc_facts_print_job_options_json(FILE *out)
{
    print_job_options(out, HC_SPEC_UPLOAD);
}

void hc_facts_print_run_options_json(FILE *out)
{
    print_job_options(out, HC_SPEC_RUN);
}

void hc_facts_print_job_options_man(FILE *out)
{
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        (void)fprintf(out, ".It Fl -%s%s%s\n%s\n", row->flag, row->is_flag ? "" : " Ar ",
                      row->is_flag ? "" : row->arg, row->man);
    }
}

void hc_facts_print_job_members_man(FILE *out)
{
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        if (row->specs & HC_SPEC_OWN)
            (void)fprintf(out, ".It Sy %s\n%s, as\n.Fl -%s .\n", row->name,
                          row->is_flag ? "True or false" : "Text", row->flag);
    }
}

static void print_names(FILE *out, unsigned with, unsigned without, const char *end)
{
    bool first = true;
    for (size_t i = 0; i < hc_job_options_count; i++) {
        const struct hc_job_option *row = &hc_job_options[i];
        if (!(row->specs & with) || (row->specs & without))
            continue;
        (void)fprintf(out, "%s%s", first ? ".Sy " : " , ", row->name);
        first = false;
    }
    (void)fprintf(out, "%s\n", end);
}

void hc_facts_print_not_sent_man(FILE *out)
{
    print_names(out, HC_SPEC_OWN, HC_SPEC_UPLOAD, "");
}

void hc_facts_print_run_options_man(FILE *out)
{
    print_names(out, HC_SPEC_RUN, 0, " .");
}
