/* hotcell verify MANIFEST [--sign KEYFILE] - checks that a manifest is genuine, and that the files which it
 * lists are unchanged. */
#include "cli/cli.h"

#include "base/arguments.h"
#include "base/fd.h"
#include "base/hash.h"
#include "base/kernel.h"
#include "cell/key.h"
#include "manifest/saved_code.h"
#include "manifest/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MANIFEST ((size_t)256 << 20) /* most bytes of a manifest */
#define MAX_SAVED    ((size_t)80 << 20)  /* most bytes of a saved program, with the text before it */
#define QUOTES       "\"\"\""            /* end of the text before the program */

static const char help[] =
    "usage: hotcell verify MANIFEST [--sign KEYFILE]\n"
    "Check the SHA-256 of every file that the manifest lists, beside it, and with a key the\n"
    "manifest's signature too. Exit status: 0 if all is as it was, 1 if not.\n";

/* Opens a listed file. A manifest from elsewhere must not make us read outside of its own directory. */
static int open_at(int dir, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    return hc_openat2(dir, path, &how);
}

/* Hashes a file, up to one byte beyond `bytes`: a longer file has changed in any case. */
static int hash_at(int dir, const char *path, double bytes, char out[HC_SHA256_HEX])
{
    hc_autofd fd = open_at(dir, path);
    if (fd < 0)
        return -1;
    struct hc_hash h;
    hc_hash_init(&h);
    static char chunk[1 << 16];
    double total = 0;
    for (ssize_t n; total <= bytes && (n = read(fd, chunk, sizeof chunk)) != 0;) {
        if (n < 0)
            return -1;
        hc_hash_add(&h, chunk, (size_t)n);
        total += (double)n;
    }
    hc_hash_hex(&h, out);
    return 0;
}

/* Is the text in front of the program, which is not part of the hash, a single string, which does nothing
 * when the file is run? */
static bool is_mere_text(const char *file, const char *program)
{
    static const char end[] = QUOTES "\n" HC_CODE_MARKER;
    const char *close = program - strlen(end);
    return close > file && strstr(file + strlen(QUOTES), QUOTES) == close && close[-1] != '\\';
}

/* Is the file the program with this hash, behind the text that --persist-code puts in front? */
static bool is_saved_program(int dir, const char *path, const char *sha256)
{
    hc_autobuf file = {0};
    struct hc_error ignored;
    size_t len;
    hc_autofd fd = open_at(dir, path);
    if (fd < 0 || hc_read_all(fd, &file, MAX_SAVED, &ignored) < 0 || !file.data)
        return false;
    const char *program = hc_saved_code_program(file.data, file.len, &len);
    return program != file.data && is_mere_text(file.data, program) && hc_saved_code_is(program, len, sha256);
}

/* Checks the file at `path` against `row`, which has its bytes and sha256; those of a program are without the
 * text in front. */
static bool check_artifact(int dir, const cJSON *path, const cJSON *row, bool program)
{
    const cJSON *sha = cJSON_GetObjectItemCaseSensitive(row, "sha256");
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(row, "bytes");
    char now[HC_SHA256_HEX];
    if (!cJSON_IsString(path) || !cJSON_IsString(sha) || !cJSON_IsNumber(bytes)) {
        hc_warn("the manifest lists a file without path, bytes or sha256");
        return false;
    }
    char *name = strdup(path->valuestring);
    if (name && hc_json_is_true(row, "escaped"))
        hc_name_unescape(name);
    int rc = name ? hash_at(dir, name, bytes->valuedouble, now) : -1;
    int why = errno;
    bool same = rc == 0 && (hc_digest_equal(now, sha->valuestring) ||
                            (program && is_saved_program(dir, name, sha->valuestring)));
    free(name);
    if (rc < 0)
        hc_warn("%s: %s", path->valuestring, strerror(why));
    else if (!same)
        hc_warn("%s: the content has changed", path->valuestring);
    else
        return true;
    return false;
}

static int check_list(int dir, const cJSON *root, const char *key, int *checked)
{
    int wrong = 0;
    const cJSON *row = NULL;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(root, key))
    {
        (*checked)++;
        wrong += !check_artifact(dir, cJSON_GetObjectItemCaseSensitive(row, "path"), row, false);
    }
    return wrong;
}

static int check_code(int dir, const cJSON *root, int *checked)
{
    const cJSON *path = cJSON_GetObjectItemCaseSensitive(root, "code_path");
    if (!cJSON_IsString(path))
        return 0;
    (*checked)++;
    return !check_artifact(dir, path, cJSON_GetObjectItemCaseSensitive(root, "code"), true);
}

/* Checks the lists of changes in copies of directories; `hotcell workspace commit` checks the contents by
 * them. */
static int check_changes(int dir, const cJSON *root, int *checked)
{
    int wrong = 0;
    const cJSON *entry;
    cJSON_ArrayForEach(entry, cJSON_GetObjectItemCaseSensitive(root, "dirs"))
    {
        char now[HC_SHA256_HEX], path[PATH_MAX];
        const cJSON *changes = hc_json_member(entry, "changes");
        const char *directory = hc_json_text(changes, "directory"),
                   *sha256 = hc_json_text(changes, "list_sha256");
        if (!*directory || !*sha256) /* nothing was changed */
            continue;
        (*checked)++;
        (void)snprintf(path, sizeof path, "%s.json", directory);
        if (hash_at(dir, path, (double)MAX_MANIFEST, now) < 0)
            hc_warn("%s: %s", path, strerror(errno));
        else if (!hc_digest_equal(now, sha256))
            hc_warn("%s: the content has changed", path);
        else
            continue;
        wrong++;
    }
    return wrong;
}

/* Has the document the lists of a manifest? Without them, no file would be checked, and none would fail. */
static bool is_manifest(const cJSON *root)
{
    return cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(root, "version")) &&
           cJSON_IsString(cJSON_GetObjectItemCaseSensitive(root, "status")) &&
           cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "figures")) &&
           cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(root, "files"));
}

static int check(const char *path, const char *key_path)
{
    struct hc_error err;
    hc_autobuf text = {0};
    hc_autobuf key = {0};
    struct hc_json j = {0};
    if (key_path && hc_key_read(key_path, &key, &err) < 0)
        return hc_report(&err);
    if (hc_read_file(AT_FDCWD, path, &text, MAX_MANIFEST, &err) < 0 ||
        hc_json_parse(&j, path, text.data ? text.data : "", text.len, &err) < 0) {
        (void)hc_exit_as(&err, HC_EXIT_DATA);
        return hc_report(&err);
    }
    int wrong = 0, checked = 0;
    if (!is_manifest(j.root)) {
        hc_json_finish(&j);
        (void)hc_fail_as(&err, HC_EXIT_DATA, 0, "%s: not a manifest of hotcell", path);
        return hc_report(&err);
    }
    if (key_path && hc_manifest_verify(&j, key.data, key.len, &err) < 0) {
        (void)hc_report(&err);
        wrong++;
    }
    char *copy = strdup(path);
    hc_autofd dir = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(copy);
    wrong += check_list(dir, j.root, "figures", &checked) + check_list(dir, j.root, "files", &checked) +
             check_code(dir, j.root, &checked) + check_changes(dir, j.root, &checked);
    hc_json_finish(&j);
    if (!wrong)
        (void)printf("%s: %s%d file%s as recorded\n", path,
                     key_path ? "signature valid, " : "signature not checked, ", checked,
                     checked == 1 ? "" : "s");
    return wrong ? HC_EXIT_GUEST : HC_EXIT_OK;
}

int hc_cmd_verify(int argc, char **argv)
{
    static const struct option options[] = {
        {"sign", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const char *key = NULL;
    int opt;
    while ((opt = hc_getopt(argc, argv, ":h", options)) != -1) {
        if (opt == 'h') {
            (void)fputs(help, stdout);
            return HC_EXIT_OK;
        }
        if (opt != 's')
            return opt == ':' ? hc_usage("verify", "%s needs a value", argv[optind - 1])
                              : hc_unknown_option("verify", options, argv[optind - 1]);
        key = optarg;
    }
    if (argc - optind != 1)
        return hc_usage("verify", "expected one MANIFEST");
    return check(argv[optind], key);
}
