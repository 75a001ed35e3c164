/* hotcell report DIR|MANIFEST|JOURNAL - makes pages for people who review programs' results. This process
 * executes a Python program that makes them (src/report).
 *
 * That program passes documents which it cannot read to `hotcell report --judge`, so that one scanner reports
 * the errors of all documents, with their places. */
#include "cli/cli.h"

#include "base/fd.h"
#include "base/state.h"
#include "json/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_TEXT ((size_t)256 << 20) /* most bytes of a document */

/* ---- errors of documents ---- */

/* The value at a path of names joined by dots; the document itself for an empty path. */
static const cJSON *find(const cJSON *node, char *path)
{
    char *name = *path ? strsep(&path, ".") : NULL;
    for (; name; name = strsep(&path, "."))
        node = cJSON_GetObjectItemCaseSensitive(node, name);
    return node;
}

/* Corrects the line in a message, as the text begins at line `line` of its file: "name:1:column" becomes
 * "name:line:column". */
static void place(struct hc_error *err, const char *name, long line)
{
    char rest[sizeof err->text];
    char *behind;
    size_t len = strlen(name);
    if (strncmp(err->text, name, len) != 0 || err->text[len] != ':')
        return;
    long at = strtol(err->text + len + 1, &behind, 10);
    if (at < 1 || *behind != ':')
        return;
    (void)snprintf(rest, sizeof rest, "%s", behind);
    (void)snprintf(err->text, sizeof err->text, "%.256s:%ld%.400s", name, line + at - 1, rest);
}

/* hotcell report --judge NAME LINE PATH WHAT <TEXT: prints the error of a text, and fails if there is one. A
 * text without errors gets the message WHAT about the value at PATH, unless WHAT is empty. */
static int report_error(char **argv)
{
    struct hc_json j;
    struct hc_error err;
    hc_autobuf text = {0};
    int rc = hc_read_all(STDIN_FILENO, &text, MAX_TEXT, &err);
    if (rc == 0)
        rc = hc_json_parse(&j, argv[0], text.data ? text.data : "", text.len, &err);
    if (rc == 0) {
        if (*argv[3])
            rc = hc_json_fail(&j, find(j.root, argv[2]), false, &err, "%s", argv[3]);
        hc_json_finish(&j);
    }
    if (rc == 0)
        return HC_EXIT_OK;
    place(&err, argv[0], strtol(argv[1], NULL, 10));
    (void)fputs(err.text, stdout);
    return err.exit;
}

/* ---- the program ---- */

/* Isolated (-I): neither the caller's environment nor the current directory adds a module. */
static int exec_report(int argc, char **argv, struct hc_error *err)
{
    char program[PATH_MAX], self[PATH_MAX];
    const char *const front[] = {HC_HOST_PYTHON, "-I", "-B", "-X", "utf8", program, self};
    const size_t count = sizeof front / sizeof *front;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return hc_fail(err, errno, "find the place of the running binary");
    self[n] = '\0';
    if (hc_program_path("hotcell-report", program, err) < 0)
        return -1;
    char **arguments = calloc(count + (size_t)argc, sizeof *arguments);
    if (!arguments)
        return hc_fail(err, ENOMEM, "start " HC_HOST_PYTHON);
    memcpy(arguments, front, sizeof front);
    memcpy(arguments + count, argv + 1, (size_t)argc * sizeof *arguments); /* with the NULL at its end */
    (void)execv(HC_HOST_PYTHON, arguments);
    (void)hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno,
                     "hotcell report needs the Debian packages python3 and python3-jinja2: " HC_HOST_PYTHON);
    free(arguments);
    return -1;
}

int hc_cmd_report(int argc, char **argv)
{
    struct hc_error err;
    if (argc == 6 && strcmp(argv[1], "--judge") == 0)
        return report_error(argv + 2);
    (void)exec_report(argc, argv, &err);
    return hc_report(&err);
}
