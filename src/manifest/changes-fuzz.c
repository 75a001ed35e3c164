/* Any bytes as a list of changes: what is accepted stays below its directory, and is the same when it is
 * printed and read once more. */
#include "manifest/changes.h"

#include "manifest/manifest.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void check_path(const char *path)
{
    require(*path && *path != '/' && strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0);
    require(!strstr(path, "/../") && !strstr(path, "//"));
    size_t len = strlen(path);
    require(path[len - 1] != '/' && (len < 3 || strcmp(path + len - 3, "/..") != 0));
}

static void check_again(const struct hc_changes *c)
{
    struct hc_changes *again;
    struct hc_error err;
    cJSON *printed = hc_changes_print(c, SIZE_MAX);
    require(printed && hc_changes_read(printed, &again, &err) == 0 && again->count == c->count);
    for (size_t i = 0; i < c->count; i++) {
        check_path(c->list[i].path);
        require(strcmp(c->list[i].path, again->list[i].path) == 0 &&
                c->list[i].change == again->list[i].change);
        require(c->list[i].was.mode == again->list[i].was.mode &&
                c->list[i].now.bytes == again->list[i].now.bytes);
    }
    hc_changes_free(again);
    cJSON_Delete(printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct hc_json j = {0};
    struct hc_error err;
    struct hc_changes *changes = NULL;
    if (hc_json_parse(&j, "changes", (const char *)data, len, &err) == 0 &&
        hc_changes_read(j.root, &changes, &err) == 0)
        check_again(changes);
    hc_changes_free(changes);
    hc_json_finish(&j);
    return 0;
}
