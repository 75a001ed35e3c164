#include "client/http.h"

#include "base/fd.h"
#include "base/state.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEND_TIMEOUT  30                           /* seconds until a daemon that does not read is given up */
#define READ_SIZE     65536                        /* most bytes of an answer that are read at once */
#define SYSTEM_SOCKET "/run/hotcell/hotcelld.sock" /* default socket of root's daemon */

/* ---- the daemon's address ---- */

static const char http[] = "http://", https[] = "https://";

static int set_path(struct hc_daemon_address *p, const char *path, struct hc_error *err)
{
    struct sockaddr_un address;
    if (strlen(path) >= sizeof address.sun_path)
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "HOTCELL_SOCKET: a socket's path has at most %zu bytes",
                          sizeof address.sun_path - 1);
    (void)snprintf(p->path, sizeof p->path, "%s", path);
    (void)snprintf(p->name, sizeof p->name, "%s", path);
    return 0;
}

static int fail_address(const char *named, struct hc_error *err)
{
    return hc_fail_as(err, HC_EXIT_USAGE, 0,
                      "HOTCELL_SOCKET: expected a path, http://HOST:PORT or https://HOST:PORT, with /PREFIX "
                      "behind it or without, got '%.100s'",
                      named);
}

static bool is_port(const char *digits, size_t len)
{
    int64_t port;
    char text[8];
    if (!len || len >= sizeof text || strspn(digits, "0123456789") != len)
        return false;
    (void)snprintf(text, sizeof text, "%.*s", (int)len, digits);
    return hc_parse_int(text, &port) == 0 && port > 0 && port <= UINT16_MAX;
}

bool hc_is_bearer_token(const char *text)
{
    return *text &&
           !text[strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=")];
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-"

/* Takes the path behind host and port, parts with a slash before each, without a slash at its end. */
static bool set_prefix(struct hc_daemon_address *p, const char *path)
{
    size_t len = strlen(path);
    len -= len && path[len - 1] == '/';
    if (len >= sizeof p->prefix || (*path && *path != '/') || strstr(path, "/..") || strstr(path, "//") ||
        path[strspn(path, "/" LETTERS)])
        return false;
    memcpy(p->prefix, path, len);
    return true;
}

/* Parses HOST:PORT/PREFIX; HOST is a name, an IPv4 address, or an IPv6 address in brackets. Without a port
 * https has its own one. */
static int set_address(struct hc_daemon_address *p, const char *named, struct hc_error *err)
{
    p->encrypted = strncmp(named, https, strlen(https)) == 0;
    const char *scheme = p->encrypted ? https : http, *text = named + strlen(scheme);
    const bool brackets = text[0] == '[';
    const char *host = text + brackets, *end = host + strcspn(host, brackets ? "]/@?#" : ":/@?#[]");
    const size_t host_len = (size_t)(end - host);
    if (brackets && *end++ != ']')
        return fail_address(named, err);
    const char *port = *end == ':' ? end + 1 : p->encrypted ? "443" : "";
    const size_t port_len = strcspn(port, "/");
    const char *rest = *end == ':' ? port + port_len : end;
    if (!host_len || host_len >= sizeof p->host || !is_port(port, port_len) || !set_prefix(p, rest))
        return fail_address(named, err);
    memcpy(p->host, host, host_len);
    memcpy(p->port, port, port_len);
    (void)snprintf(p->name, sizeof p->name, "%s%.*s:%s%s", scheme, (int)(host_len + 2 * brackets), text,
                   p->port, p->prefix);
    p->token = getenv("HOTCELL_TOKEN");
    if (p->token && !hc_is_bearer_token(p->token))
        return hc_fail_as(err, HC_EXIT_USAGE, 0, "HOTCELL_TOKEN: expected a bearer token");
    return 0;
}

/* "127.0.0.1:8080" without "http://" is an address that lacks its scheme, unless a file has that name. */
static bool is_bare_address(const char *named)
{
    const char *port = strrchr(named, ':');
    return port && port != named && !strchr(named, '/') && is_port(port + 1, strlen(port + 1)) &&
           access(named, F_OK) < 0;
}

int hc_daemon_address_parse(struct hc_daemon_address *p, const char *named, struct hc_error *err)
{
    *p = (struct hc_daemon_address){0};
    if (strncmp(named, http, strlen(http)) == 0 || strncmp(named, https, strlen(https)) == 0)
        return set_address(p, named, err);
    if (strstr(named, "://")) /* another scheme cannot be a path */
        return fail_address(named, err);
    if (is_bare_address(named))
        return hc_fail_as(err, HC_EXIT_USAGE, 0,
                          "HOTCELL_SOCKET: expected a path, or http://HOST:PORT, got '%.100s': did you mean "
                          "http://%.100s?",
                          named, named);
    return set_path(p, named, err);
}

int hc_daemon_address_find(struct hc_daemon_address *p, struct hc_error *err)
{
    const char *named = getenv("HOTCELL_SOCKET");
    char path[PATH_MAX];
    if (named && *named)
        return hc_daemon_address_parse(p, named, err);
    *p = (struct hc_daemon_address){0};
    if (hc_daemon_socket(path, err) < 0)
        return hc_exit_as(err, HC_EXIT_USAGE);
    bool own = access(path, F_OK) == 0 || access(SYSTEM_SOCKET, F_OK) < 0;
    return set_path(p, own ? path : SYSTEM_SOCKET, err);
}

/* ---- the connection ---- */

/* Without a limit, a full queue of connections or a daemon that does not read would block us for ever. */
static void limit_waiting(int fd)
{
    const struct timeval patience = {.tv_sec = SEND_TIMEOUT};
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

static int dial_path(const struct hc_daemon_address *p, struct hc_error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, p->path, strlen(p->path));
    hc_autofd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return hc_fail(err, errno, "socket");
    limit_waiting(fd);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return hc_take(&fd);
    int sys = errno == EAGAIN ? EBUSY : errno; /* EAGAIN: the daemon's queue of connections stayed full */
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, sys, "connect to hotcelld at %s", p->name);
}

static int dial_address(const struct hc_daemon_address *p, struct hc_error *err)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(p->host, p->port, &hints, &found), sys = EADDRNOTAVAIL;
    if (rc != 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "connect to hotcelld at %s: %s", p->name,
                          gai_strerror(rc));
    hc_autofd fd = -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        limit_waiting(fd);
        if (connect(fd, a->ai_addr, a->ai_addrlen) < 0) {
            sys = errno == EINPROGRESS ? ETIMEDOUT : errno;
            hc_close_fd(&fd);
        }
    }
    freeaddrinfo(found);
    if (fd >= 0)
        return hc_take(&fd);
    return hc_fail_as(err, HC_EXIT_UNAVAILABLE, sys, "connect to hotcelld at %s", p->name);
}

/* Starts hotcell-tls with `client` as its descriptor 0 and `status` as 1, and waits until it is over. `text`
 * gets what it says on the pipe `status_end`. */
static int start_tls(const struct hc_daemon_address *p, int client, int *status, int status_end, char *text,
                     size_t size, struct hc_error *err)
{
    char path[PATH_MAX], name[] = "hotcell-tls";
    char *argv[] = {name, (char *)(uintptr_t)p->host, (char *)(uintptr_t)p->port, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    size_t len = 0;
    ssize_t n = 1;
    if (hc_program_path(name, path, err) < 0)
        return hc_exit_as(err, HC_EXIT_UNAVAILABLE);
    if (posix_spawn_file_actions_init(&actions) != 0)
        return hc_fail(err, ENOMEM, "start %s", path);
    (void)posix_spawn_file_actions_adddup2(&actions, client, STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, *status, STDOUT_FILENO);
    int sys = posix_spawn(&pid, path, &actions, NULL, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    hc_close_fd(status);
    if (sys != 0)
        return hc_fail(err, sys, "start %s", path);
    while (n > 0 && len < size - 1) {
        n = TEMP_FAILURE_RETRY(read(status_end, text + len, size - 1 - len));
        len += n > 0 ? (size_t)n : 0;
    }
    text[len] = '\0';
    (void)TEMP_FAILURE_RETRY(waitpid(pid, NULL, 0));
    return 0;
}

/* Has hotcell-tls connect, and carry the bytes of a socket of its own. */
static int dial_encrypted(const struct hc_daemon_address *p, struct hc_error *err)
{
    int pair[2], ends[2];
    char text[512], *more = NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return hc_fail(err, errno, "socketpair");
    hc_autofd ours = pair[0], theirs = pair[1];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return hc_fail(err, errno, "pipe");
    hc_autofd status_end = ends[0], status = ends[1];
    if (start_tls(p, theirs, &status, status_end, text, sizeof text, err) < 0)
        return -1;
    if (strcmp(text, "+") == 0)
        return hc_take(&ours);
    const int exit = (int)strtol(text, &more, 10), sys = (int)strtol(more, &more, 10);
    return hc_fail_as(err, exit ? exit : HC_EXIT_UNAVAILABLE, sys, "connect to hotcelld at %s%s%s", p->name,
                      *more && more[1] ? ": " : "", *more ? more + 1 : "");
}

int hc_dial(const struct hc_daemon_address *p, struct hc_error *err)
{
    if (*p->path)
        return dial_path(p, err);
    return p->encrypted ? dial_encrypted(p, err) : dial_address(p, err);
}

/* ---- a request and its answer ---- */

/* Returns 1 if the daemon has closed its end; its answer may say why. */
static int send_all(int fd, const char *data, size_t len, struct hc_error *err)
{
    while (len) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
            return 1;
        if (n < 0)
            return hc_fail(err, errno == EAGAIN ? ETIMEDOUT : errno, "send the request");
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

void hc_put_request_head(struct hc_buf *out, const struct hc_daemon_address *p,
                         const struct hc_exchange_head *h)
{
    const char *open = strchr(p->host, ':') ? "[" : "", *shut = *open ? "]" : "";
    (void)hc_buf_fmt(out, "%s %s%s HTTP/1.1\r\nConnection: close\r\n", h->method, p->prefix, h->path);
    if (*p->path)
        (void)hc_buf_str(out, "Host: localhost\r\n");
    else
        (void)hc_buf_fmt(out, "Host: %s%s%s:%s\r\n", open, p->host, shut, p->port);
    if (h->accept)
        (void)hc_buf_fmt(out, "Accept: %s\r\n", h->accept);
    if (p->token)
        (void)hc_buf_fmt(out, "Authorization: Bearer %s\r\n", p->token);
    if (h->body)
        (void)hc_buf_fmt(out, "Content-Type: %s\r\n", h->type ? h->type : "application/json");
    if (strcmp(h->method, "POST") == 0)
        (void)hc_buf_fmt(out, "Content-Length: %zu\r\n", h->body ? h->body_len : 0);
    (void)hc_buf_str(out, "\r\n");
}

int hc_send(int fd, const struct hc_daemon_address *p, const struct hc_exchange_head *h, struct hc_error *err)
{
    hc_autobuf head = {0};
    hc_put_request_head(&head, p, h);
    if (head.failed)
        return hc_fail(err, ENOMEM, "send the request");
    int rc = send_all(fd, head.data, head.len, err);
    if (rc == 0 && h->body)
        rc = send_all(fd, h->body, h->body_len, err);
    return rc < 0 ? -1 : 0;
}

int hc_receive(int fd, struct hc_answer *a, int cancel_fd, int other_fd, struct hc_error *err)
{
    char block[READ_SIZE];
    struct pollfd fds[3] = {{.fd = fd, .events = POLLIN},
                            {.fd = cancel_fd, .events = POLLIN},
                            {.fd = other_fd, .events = POLLIN}};
    if (TEMP_FAILURE_RETRY(poll(fds, 3, -1)) < 0)
        return hc_fail(err, errno, "poll");
    if (fds[1].revents)
        return HC_CANCELLED;
    if (fds[2].revents)
        return HC_OTHER_READY;
    ssize_t n = TEMP_FAILURE_RETRY(read(fd, block, sizeof block));
    if (n < 0)
        return hc_fail(err, errno, "read the answer");
    return n == 0 ? hc_answer_end(a, err) : hc_answer_feed(a, block, (size_t)n, err);
}

int hc_exchange(const struct hc_daemon_address *p, const struct hc_exchange_head *h, struct hc_answer *a,
                struct hc_error *err)
{
    hc_autofd fd = hc_dial(p, err);
    if (fd < 0 || hc_send(fd, p, h, err) < 0)
        return -1;
    while (a->state != HC_ANSWER_DONE)
        if (hc_receive(fd, a, -1, -1, err) < 0)
            return -1;
    return 0;
}

int hc_exit_of_http(int status)
{
    switch (status) {
    case 400: /* the request is wrong, */
    case 404: /* or names something that the daemon does not have */
    case 410:
    case 413:
    case 415:
        return HC_EXIT_DATA;
    case 401: /* no valid token */
    case 403: /* the tenant has not this right */
    case 422: /* a policy or tree cannot be used */
        return HC_EXIT_CONFIG;
    case 429:
    case 503:
        return HC_EXIT_UNAVAILABLE;
    default:
        return HC_EXIT_INTERNAL;
    }
}
