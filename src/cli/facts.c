#include "cli/facts.h"

#include "base/buf.h"
#include "json/json.h"
#include "manifest/manifest.h"

#include <string.h>

#define PYTHON_TEXT 110 /* characters of a text in one line */

static const struct {
    const char *id, *text;
} statuses[] = {
#define HC_STATUS_ROW(id, name, exit, limit, text) {#id, text},
#include "manifest/status.def"
};

/* ---- texts ---- */

/* Plain text as mdoc(7): names of members, such as limits.pids or usage.wall, are set in bold. */
static void put_man_text(FILE *out, const char *text)
{
    bool fresh = true;
    while (*text) {
        size_t len = strcspn(text, " "), name = strspn(text, "abcdefghijklmnopqrstuvwxyz_.");
        while (name && text[name - 1] == '.')
            name--;
        bool marked = strncmp(text, "limits.", 7) == 0 || strncmp(text, "output.", 7) == 0;
        if (marked)
            (void)fprintf(out, "%s.Sy %.*s%s%.*s\n", fresh ? "" : "\n", (int)name, text,
                          len > name ? " " : "", (int)(len - name), text + name);
        else
            (void)fprintf(out, "%s%.*s", fresh ? "" : " ", (int)len, text);
        fresh = marked;
        text += len + strspn(text + len, " ");
    }
    (void)fputs(fresh ? "" : "\n", out);
}

static void put_quoted(FILE *out, const char *text)
{
    hc_autobuf quoted = {0};
    hc_json_quote(&quoted, text, strlen(text));
    (void)fputs(quoted.data ? quoted.data : "\"\"", out);
}

/* A long text becomes several literals, one a line, which Python puts together. */
static void put_python_text(FILE *out, const char *text)
{
    while (strlen(text) > PYTHON_TEXT) {
        size_t len = PYTHON_TEXT;
        while (text[len - 1] != ' ')
            len--;
        (void)fprintf(out, "\n        \"%.*s\"", (int)len, text);
        text += len;
    }
    (void)fputs("\n        ", out);
    put_quoted(out, text);
}

/* ---- statuses ---- */

void hc_facts_print_statuses_json(FILE *out)
{
    for (int i = 0; i < HC_STATUSES; i++)
        (void)fprintf(out, "%s\"%s\"", i ? ", " : "", hc_status_name((enum hc_status)i));
    (void)fputc('\n', out);
}

void hc_facts_print_ended_json(FILE *out)
{
    for (int i = 0; i < HC_STATUS_LAUNCH_FAILED; i++)
        (void)fprintf(out, "\"%s\", ", hc_status_name((enum hc_status)i));
    (void)fputc('\n', out);
}

void hc_facts_print_statuses_man(FILE *out)
{
    for (int i = 0; i < HC_STATUSES; i++) {
        (void)fprintf(out, ".It Sy %s\n", hc_status_name((enum hc_status)i));
        put_man_text(out, statuses[i].text);
    }
}

static void put_statuses_python(FILE *out)
{
    (void)fputs("\n\nclass Status(NamedTuple):\n"
                "    \"\"\"A way in which a job can end.\"\"\"\n\n"
                "    exit_code: int  # of hotcell run\n"
                "    limit: bool  # did a limit end it?\n"
                "    text: str\n\n\n"
                "STATUSES: Dict[str, Status] = {\n",
                out);
    for (int i = 0; i < HC_STATUSES; i++) {
        enum hc_status s = (enum hc_status)i;
        (void)fprintf(out, "    \"%s\": Status(%d, %s,", hc_status_name(s), hc_status_exit(s),
                      hc_status_is_limit(s) ? "True" : "False");
        put_python_text(out, statuses[i].text);
        (void)fputs("),\n", out);
    }
    (void)fputs("}\n", out);
}

/* ---- usage ---- */

static const struct {
    const char *name, *of_schema, *behind, *of_python;
} units[] = {
    [HC_USAGE_SECONDS] = {"seconds", "number", ", in seconds", "float"},
    [HC_USAGE_BYTES] = {"bytes", "integer", ", in bytes", "int"},
    [HC_USAGE_COUNT] = {"count", "integer", "", "int"},
};

void hc_facts_print_usage_json(FILE *out)
{
    for (size_t i = 0; i < hc_usage_row_count; i++) {
        const struct hc_usage_row *row = &hc_usage_rows[i];
        (void)fprintf(out,
                      "\"%s\": {\"description\": \"%s%s\", \"type\": [\"%s\", \"null\"], \"minimum\": 0},\n",
                      row->name, row->text, units[row->unit].behind, units[row->unit].of_schema);
    }
}

void hc_facts_print_usage_names_json(FILE *out)
{
    for (size_t i = 0; i < hc_usage_row_count; i++)
        (void)fprintf(out, "\"%s\",\n", hc_usage_rows[i].name);
}

void hc_facts_print_usage_man(FILE *out)
{
    for (size_t i = 0; i < hc_usage_row_count; i++) {
        (void)fprintf(out, ".It Sy %s\n", hc_usage_rows[i].name);
        put_man_text(out, hc_usage_rows[i].text);
    }
}

static void put_usage_python(FILE *out)
{
    (void)fputs(
        "\n\n@dataclass(frozen=True)\n"
        "class Usage:\n"
        "    \"\"\"The resources that the job used: bytes, seconds and counts. None: not known.\"\"\"\n\n",
        out);
    for (size_t i = 0; i < hc_usage_row_count; i++)
        (void)fprintf(out, "    %s: Optional[%s] = None\n", hc_usage_rows[i].name,
                      units[hc_usage_rows[i].unit].of_python);
    (void)fputs("\n\nclass Number(NamedTuple):\n"
                "    \"\"\"The name, unit and description of a member of Usage.\"\"\"\n\n"
                "    unit: str  # \"seconds\", \"bytes\" or \"count\"\n"
                "    text: str\n\n\n"
                "NUMBERS: Dict[str, Number] = {\n",
                out);
    for (size_t i = 0; i < hc_usage_row_count; i++) {
        (void)fprintf(out, "    \"%s\": Number(\"%s\",", hc_usage_rows[i].name,
                      units[hc_usage_rows[i].unit].name);
        put_python_text(out, hc_usage_rows[i].text);
        (void)fputs("),\n", out);
    }
    (void)fputs("}\n", out);
}

/* ---- denials ---- */

static const struct {
    const char *name, *schema, *of_python, *text;
} members[] = {
#define HC_DENIAL_TEXT(member, bytes, may_lack, redacted, text)                                              \
    {#member,                                                                                                \
     (may_lack) ? "\"type\": [\"string\", \"null\"], \"minLength\": 1"                                       \
                : "\"type\": \"string\", \"minLength\": 1",                                                  \
     (may_lack) ? "Optional[str]" : "str", text},
#define HC_DENIAL_OTHER(member, schema, of_python, text) {#member, schema, of_python, text},
#define HC_DENIAL_ADDED                                  HC_DENIAL_OTHER
#include "manifest/denial.def"
};

#define MEMBERS (sizeof members / sizeof *members)

static const char *const refuser_texts[] = {
#define HC_REFUSER_ROW(id, name, attested, source, text) text,
#include "manifest/denial.def"
};

/* A schema, in which "@" stands for the names of the layers. */
static void put_schema(FILE *out, const char *schema)
{
    const char *at = strchr(schema, '@');
    (void)fprintf(out, "%.*s", at ? (int)(at - schema) : (int)strlen(schema), schema);
    for (int by = 0; at && by < HC_REFUSERS; by++)
        (void)fprintf(out, "%s\"%s\"", by ? ", " : "", hc_refuser_name((enum hc_refuser)by));
    (void)fputs(at ? at + 1 : "", out);
}

void hc_facts_print_denial_json(FILE *out)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        (void)fprintf(out, "%s\"%s\": {\"description\": \"%s\", ", i ? ",\n" : "", members[i].name,
                      members[i].text);
        put_schema(out, members[i].schema);
        (void)fputc('}', out);
    }
    (void)fputc('\n', out);
}

void hc_facts_print_denial_names_json(FILE *out)
{
    for (size_t i = 0; i < MEMBERS; i++)
        (void)fprintf(out, "%s\"%s\"", i ? ", " : "", members[i].name);
    (void)fputc('\n', out);
}

void hc_facts_print_denials_man(FILE *out)
{
    for (size_t i = 0; i < MEMBERS; i++) {
        (void)fprintf(out, ".It Sy %s\n", members[i].name);
        put_man_text(out, members[i].text);
    }
}

void hc_facts_print_refusers_man(FILE *out)
{
    for (int by = 0; by < HC_REFUSERS; by++) {
        (void)fprintf(out, ".It Sy %s\n", hc_refuser_name((enum hc_refuser)by));
        put_man_text(out, refuser_texts[by]);
    }
}

static void put_denial_python(FILE *out)
{
    (void)fputs(
        "\n\n@dataclass(frozen=True)\n"
        "class Denial:\n"
        "    \"\"\"An action of the program that was refused, `count` times. `attested`: it was seen from "
        "outside the program's process,\n"
        "    and belongs to this program; in a session, code that an earlier run left may have caused the "
        "others.\"\"\"\n\n",
        out);
    for (size_t i = 0; i < MEMBERS; i++)
        (void)fprintf(out, "    %s: %s\n", members[i].name, members[i].of_python);
}

/* ---- what held the job ---- */

static const char *const enforced[] = {
#define HC_ENFORCED(name) #name,
#include "policy/limits.def"
};

#define ENFORCED (sizeof enforced / sizeof *enforced)

void hc_facts_print_enforced_man(FILE *out)
{
    for (size_t i = 0; i < ENFORCED; i++)
        (void)fprintf(out, "%s%s", i == 0 ? ".Sy " : i + 1 < ENFORCED ? " , " : "\nand\n.Sy ", enforced[i]);
    (void)fputc('\n', out);
}

static const struct {
    const char *name, *text;
} layers[] = {
#define HC_LAYER_ROW(name, text) {#name, text},
#include "manifest/layer.def"
};

void hc_facts_print_layers_man(FILE *out)
{
    for (size_t i = 0; i < HC_MAX_LAYERS; i++) {
        (void)fprintf(out, ".It Sy %s\n", layers[i].name);
        put_man_text(out, layers[i].text);
    }
}

static void put_layers_python(FILE *out)
{
    (void)fputs("\n\nLAYERS: Dict[str, str] = {\n", out);
    for (size_t i = 0; i < HC_MAX_LAYERS; i++) {
        (void)fprintf(out, "    \"%s\":", layers[i].name);
        put_python_text(out, layers[i].text);
        (void)fputs(",\n", out);
    }
    (void)fputs("}\n", out);
}

void hc_facts_print_python(FILE *out)
{
    (void)fputs("\"\"\"What a manifest can say, as the programs of hotcell know it.\n\n"
                "`make generated` makes this file of the tables src/manifest/*.def: edit those.\n\"\"\"\n\n"
                "from __future__ import annotations\n\n"
                "from dataclasses import dataclass\n"
                "from typing import Dict, NamedTuple, Optional\n",
                out);
    put_statuses_python(out);
    put_usage_python(out);
    put_denial_python(out);
    put_layers_python(out);
}
