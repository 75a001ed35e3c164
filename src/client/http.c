#include "client/http.h"

#include "base/fd.h"
#include "base/state.h"
#include "base/units.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SEND_TIMEOUT  30                           /* seconds until a daemon that does not read is given up */
#define READ_SIZE     65536                        /* most bytes of an answer that are read at once */
#define SYSTEM_SOCKET "/run/hotcell/hotcelld.sock" /* default socket of root's daemon */

/* ---- the daemon's address ---- */

static const char http[] = "http://";

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
    const char *more = strncmp(named, "https://", 8) == 0 ? ": only the Python package knows https" : "";
    return hc_fail_as(err, HC_EXIT_USAGE, 0,
                      "HOTCELL_SOCKET: expected a path, or http://HOST:PORT, got '%.100s'%s", named, more);
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

/* Parses HOST:PORT; HOST is a name, an IPv4 address, or an IPv6 address in brackets. */
static int set_address(struct hc_daemon_address *p, const char *named, struct hc_error *err)
{
    const char *text = named + strlen(http);
    bool brackets = text[0] == '[';
    const char *end = brackets ? strchr(text, ']') : strrchr(text, ':');
    const char *port = end ? end + 1 + brackets : NULL;
    size_t host_len = end ? (size_t)(end - text) - brackets : 0, port_len = port ? strcspn(port, "/") : 0;
    if (!port || port[-1] != ':' || !host_len || host_len >= sizeof p->host || !is_port(port, port_len) ||
        (port[port_len] && port[port_len + 1]))
        return fail_address(named, err);
    memcpy(p->host, text + brackets, host_len);
    memcpy(p->port, port, port_len);
    (void)snprintf(p->name, sizeof p->name, "http://%.300s", text);
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
    if (strncmp(named, http, strlen(http)) == 0)
        return set_address(p, named, err);
    if (strstr(named, "://")) /* another scheme, such as https, cannot be a path */
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

int hc_dial(const struct hc_daemon_address *p, struct hc_error *err)
{
    return *p->path ? dial_path(p, err) : dial_address(p, err);
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
    (void)hc_buf_fmt(out, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", h->method, h->path);
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
