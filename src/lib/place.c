/* Places that run programs, and errors as the caller gets them. */
#include "lib/parts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *hotcell_version(void)
{
    return HC_VERSION;
}

int hc_lib_tell(struct hotcell_error *to, const struct hc_error *err)
{
    if (to) {
        to->status = err->exit;
        to->sys = err->sys;
        (void)snprintf(to->text, sizeof to->text, "%s", err->text);
    }
    return HOTCELL_FAILED;
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The path of the program of this name in the directories of PATH, which the caller frees; NULL: none. */
static char *search_path(const char *name)
{
    const char *dir = getenv("PATH"), *end;
    char path[PATH_MAX];
    for (; dir; dir = *end ? end + 1 : NULL) {
        end = strchrnul(dir, ':');
        int n = end == dir ? snprintf(path, sizeof path, "./%s", name)
                           : snprintf(path, sizeof path, "%.*s/%s", (int)(end - dir), dir, name);
        if (n > 0 && n < (int)sizeof path && is_program(path))
            return strdup(path);
    }
    return NULL;
}

/* Finds the command. HC_EXIT_UNAVAILABLE: there is none. */
static char *find_command(const char *named, struct hc_error *err)
{
    const char *variable = getenv("HOTCELL");
    const char *given = named && *named ? named : variable && *variable ? variable : NULL;
    const char *name = given ? given : "hotcell";
    char *path = !strchr(name, '/') ? search_path(name) : is_program(name) ? strdup(name) : NULL;
    if (!path && given)
        (void)hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "%.200s%s is not a program that can be started", given,
                         given == variable ? " ($HOTCELL)" : "");
    else if (!path)
        (void)hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                         "no hotcell command: install it, or name it, in $HOTCELL for example");
    return path;
}

hotcell_place *hotcell_place_command(const char *command, struct hotcell_error *error)
{
    struct hc_error err;
    hotcell_place *place = calloc(1, sizeof *place);
    if (!place)
        (void)hc_fail(&err, ENOMEM, "hotcell");
    else if ((place->command = find_command(command, &err)))
        return place;
    free(place);
    (void)hc_lib_tell(error, &err);
    return NULL;
}

/* Fills the address, with a token that the place owns. */
static int set_daemon(hotcell_place *place, const char *address, const char *token, struct hc_error *err)
{
    struct hc_daemon_address *to = &place->address;
    if (token && !hc_is_bearer_token(token))
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "expected a bearer token");
    if ((address && *address ? hc_daemon_address_parse(to, address, err) : hc_daemon_address_find(to, err)) <
        0)
        return -1;
    if (to->encrypted)
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "%.200s: libhotcell speaks no https: let a server or ssh -L on this host encrypt",
                          to->name);
    if (token)
        to->token = token;
    if (to->token && !(place->token = strdup(to->token)))
        return hc_fail(err, ENOMEM, "hotcelld");
    to->token = place->token;
    return 0;
}

hotcell_place *hotcell_place_daemon(const char *address, const char *token, struct hotcell_error *error)
{
    struct hc_error err;
    hotcell_place *place = calloc(1, sizeof *place);
    if (!place)
        (void)hc_fail(&err, ENOMEM, "hotcelld");
    else if (set_daemon(place, address, token, &err) == 0)
        return place;
    hotcell_place_free(place);
    (void)hc_lib_tell(error, &err);
    return NULL;
}

void hotcell_place_free(hotcell_place *place)
{
    if (!place)
        return;
    free(place->command);
    free(place->token);
    free(place);
}
