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

void hc_facts_print_python(FILE *out)
{
    (void)fputs("\"\"\"What a manifest can say, as the programs of hotcell know it.\n\n"
                "`make generated` makes this file of the tables src/manifest/*.def: edit those.\n\"\"\"\n\n"
                "from __future__ import annotations\n\n"
                "from typing import Dict, NamedTuple\n",
                out);
    put_statuses_python(out);
}
