#include "daemon/http/listen.h"

#include "base/fd.h"
#include "base/units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG         256 /* connections that may wait to be accepted, for listen(2) */
#define FIRST_PASSED_FD 3   /* number of the first descriptor that systemd passes */

#define LISTENER_TRIES    50 /* further attempts to find the socket unused */
#define LISTENER_PAUSE_MS 20 /* milliseconds between two attempts */

static int take_number(const char *name, int64_t *value)
{
    const char *text = getenv(name);
    int rc = text ? hc_parse_int(text, value) : -1;
    (void)unsetenv(name); /* the daemon's children must not see it */
    return rc;
}

/* May users other than its owner connect to the socket? A socket without a path, or whose file cannot be
 * looked at, counts as open. */
static bool is_open(const struct sockaddr_un *address)
{
    struct stat st;
    return !address->sun_path[0] || lstat(address->sun_path, &st) < 0 || (st.st_mode & (S_IWGRP | S_IWOTH));
}

static int add_listener(struct hc_listeners *l, int fd, struct hc_error *err)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "descriptor %d is no socket", fd);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
        return hc_fail(err, errno, "descriptor %d", fd);
    if (address.ss_family == AF_UNIX)
        l->open |= is_open((const struct sockaddr_un *)&address);
    l->list[l->count++] = (struct hc_listener_socket){.fd = fd, .local = address.ss_family == AF_UNIX};
    return 0;
}

/* Takes the sockets that systemd has passed. Returns their number; 0: systemd did not start the daemon for a
 * socket. */
static int take_passed(struct hc_listeners *l, struct hc_error *err)
{
    int64_t pid = 0, count = 0;
    bool ours = take_number("LISTEN_PID", &pid) == 0 && pid == getpid();
    bool any = take_number("LISTEN_FDS", &count) == 0;
    (void)unsetenv("LISTEN_FDNAMES");
    if (!ours || !any || count < 1)
        return 0;
    if (count > HC_MAX_LISTENERS)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "more than %d sockets were passed", HC_MAX_LISTENERS);
    for (int i = 0; i < (int)count; i++) {
        if (add_listener(l, FIRST_PASSED_FD + i, err) < 0)
            return -1;
        l->list[i].passed = true;
    }
    return (int)count;
}

/* Does a process listen on the socket, even after a while? The processes of a daemon that was just killed get
 * time to end. */
static bool listens(const struct sockaddr_un *address)
{
    for (int left = LISTENER_TRIES;; left--) {
        hc_autofd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof *address) < 0)
            return false;
        if (!left)
            return true;
        (void)poll(NULL, 0, LISTENER_PAUSE_MS);
    }
}

/* Removes the socket file that a killed daemon has left; a daemon that still listens on it is an error. */
static int remove_stale(const char *path, const struct sockaddr_un *address, struct hc_error *err)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : hc_fail_as(err, HC_EXIT_CONFIG, errno, "socket %s", path);
    if (!S_ISSOCK(st.st_mode))
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "socket %s: something else is there", path);
    if (listens(address))
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "socket %s: another hotcelld listens there", path);
    return unlink(path) == 0 ? 0 : hc_fail_as(err, HC_EXIT_CONFIG, errno, "socket %s", path);
}

/* Makes the socket's directory: the default one is not there before the first daemon. All users may pass
 * through it, as the socket's own mode decides who may connect. */
static int make_place(const char *path, struct hc_error *err)
{
    char dir[256];
    const char *slash = strrchr(path, '/');
    (void)snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 0, path);
    if (*dir && hc_make_dirs(dir, 0711, err) < 0) {
        (void)hc_ctx(err, "socket %s", path);
        return hc_exit_as(err, HC_EXIT_CONFIG);
    }
    return 0;
}

static int open_local(struct hc_listeners *l, const struct hc_config *c, struct hc_error *err)
{
    const char *path = c->socket_path;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return hc_fail_as(err, HC_EXIT_CONFIG, ENAMETOOLONG, "socket %s", path);
    (void)strcpy(address.sun_path, path); /* NOLINT(clang-analyzer-security.insecureAPI.strcpy): it fits */
    if (make_place(path, err) < 0 || remove_stale(path, &address, err) < 0)
        return -1;
    hc_autofd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return hc_fail(err, errno, "socket");
    mode_t before = umask(0177);
    int rc = bind(fd, (const struct sockaddr *)&address, sizeof address);
    (void)umask(before);
    if (rc < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "socket %s", path);
    (void)snprintf(l->path, sizeof l->path, "%s", path);
    /* No client can connect before listen(2). The group is set first, then the mode. */
    if (c->socket_gid != (gid_t)-1 && lchown(path, (uid_t)-1, c->socket_gid) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno,
                          "socket %s: cannot be given to group %u (socket.group: one of who starts hotcelld)",
                          path, c->socket_gid);
    if (chmod(path, hc_config_socket_mode(c)) < 0 || listen(fd, BACKLOG) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "socket %s", path);
    return add_listener(l, hc_take(&fd), err);
}

static int open_port(struct hc_listeners *l, const struct hc_listen *where, struct hc_error *err)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(where->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(where->port)};
    bool is_v4 = inet_pton(AF_INET, where->address, &v4.sin_addr) == 1;
    if (!is_v4 && inet_pton(AF_INET6, where->address, &v6.sin6_addr) != 1)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "listen: %s is no address", where->address);
    hc_autofd fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        (!is_v4 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) < 0) ||
        bind(fd, is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6, is_v4 ? sizeof v4 : sizeof v6) <
            0 ||
        listen(fd, BACKLOG) < 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, errno, "listen on %s port %u", where->address, where->port);
    return add_listener(l, hc_take(&fd), err);
}

int hc_listeners_open(struct hc_listeners *out, const struct hc_config *c, struct hc_error *err)
{
    *out = (struct hc_listeners){0};
    int passed = take_passed(out, err);
    if (passed < 0 || (passed == 0 && open_local(out, c, err) < 0))
        return -1;
    for (size_t i = 0; i < c->listen_count; i++) {
        if (out->count == HC_MAX_LISTENERS)
            return hc_fail_as(err, HC_EXIT_CONFIG, 0, "more than %d sockets", HC_MAX_LISTENERS);
        if (open_port(out, &c->listen[i], err) < 0)
            return -1;
    }
    return 0;
}

void hc_listeners_close(struct hc_listeners *l, bool remove)
{
    for (size_t i = 0; i < l->count; i++)
        hc_close_fd(&l->list[i].fd);
    if (remove && l->path[0])
        (void)unlink(l->path);
    l->count = 0;
}
