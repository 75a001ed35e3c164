#include "daemon/config/reload.h"

#include "base/fd.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

#define MAX_TEXT ((size_t)64 << 20) /* most bytes of the configuration, and of the list of tokens */

static int print_tokens(const struct hc_config *c, struct hc_error *err)
{
    hc_autobuf text = {0};
    for (size_t i = 0; i < c->token_count; i++)
        (void)hc_buf_fmt(&text, "%s %s\n", c->tokens[i].sha256, c->tokens[i].tenant);
    if (text.failed)
        return hc_fail(err, ENOMEM, "tokens");
    return hc_sealed_memfd("hotcelld-tokens", text.data, text.len, err);
}

static int print_config(const struct hc_config *c, struct hc_error *err)
{
    cJSON *json = hc_config_to_json(c);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    if (!text)
        return hc_fail(err, ENOMEM, "configuration");
    int fd = hc_sealed_memfd("hotcelld-config", text, strlen(text), err);
    cJSON_free(text);
    return fd;
}

static int send_config(int front, const struct hc_config *c, struct hc_error *err)
{
    const struct hc_message m = {.kind = HC_SAY_RELOAD};
    hc_autofd config = print_config(c, err);
    hc_autofd tokens = config < 0 ? -1 : print_tokens(c, err);
    if (tokens < 0)
        return -1;
    const int fds[HC_RELOAD_FDS] = {[HC_RELOAD_CONFIG] = config, [HC_RELOAD_TOKENS] = tokens};
    return hc_channel_send(front, &m, fds, HC_RELOAD_FDS, err);
}

/* Keep a path that holds until the daemon ends, and say so if the file has another one now. */
static void keep_path(char *fresh, const char *now, size_t size, const char *key)
{
    if (*fresh && strcmp(fresh, now) != 0)
        hc_info("%s: the new path holds from the next start on", key);
    memcpy(fresh, now, size);
}

int hc_reload_send(int front, const char *path, struct hc_config *c, struct hc_error *err)
{
    struct hc_config fresh;
    if (hc_config_load(path, &fresh, err) < 0)
        return -1;
    keep_path(fresh.socket_path, c->socket_path, sizeof fresh.socket_path, "socket.path");
    keep_path(fresh.state, c->state, sizeof fresh.state, "state");
    keep_path(fresh.sign, c->sign, sizeof fresh.sign, "sign"); /* all workers must sign with the same key */
    if (send_config(front, &fresh, err) < 0) {
        hc_config_finish(&fresh);
        return -1;
    }
    hc_config_finish(c);
    *c = fresh;
    return 0;
}

static int read_text(int fd, struct hc_buf *text, struct hc_error *err)
{
    if (lseek(fd, 0, SEEK_SET) < 0)
        return hc_fail(err, errno, "read the configuration");
    return hc_read_all(fd, text, MAX_TEXT, err);
}

int hc_reload_take(const int fds[HC_RELOAD_FDS], struct hc_config *out, struct hc_error *err)
{
    hc_autobuf config = {0};
    hc_autobuf tokens = {0};
    if (read_text(fds[HC_RELOAD_CONFIG], &config, err) < 0 ||
        read_text(fds[HC_RELOAD_TOKENS], &tokens, err) < 0 ||
        hc_config_parse(out, "configuration", config.data ? config.data : "", config.len, err) < 0)
        return -1;
    if (hc_config_parse_tokens(out, "tokens", tokens.data ? tokens.data : "", tokens.len, err) == 0)
        return 0;
    hc_config_finish(out);
    return -1;
}
