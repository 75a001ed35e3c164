#include "cell/doctor/decoys.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NO_QUEUE  ((mqd_t)-1)
#define LEAST_PID 1000 /* pids below it may be those of a cell's own processes */

int hc_decoys_make_dir(char *out, size_t size, const char *what, struct hc_error *err)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || parent[0] != '/')
        parent = P_tmpdir;
    int n = snprintf(out, size, "%s/hotcell-%s-XXXXXX", parent, what);
    if (n > 0 && (size_t)n < size && mkdtemp(out))
        return 0;
    int cause = n > 0 && (size_t)n < size ? errno : ENAMETOOLONG;
    out[0] = '\0';
    return hc_fail_as(err, HC_EXIT_CONFIG, cause, "make a directory in %s", parent);
}

static int make_file(struct hc_decoys *l, struct hc_error *err)
{
    if (hc_decoys_make_dir(l->dir, sizeof l->dir, "drill", err) < 0)
        return -1;
    (void)snprintf(l->file, sizeof l->file, "%s/secret", l->dir);
    hc_autofd fd = open(l->file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 || fchmod(fd, 0644) < 0 || chmod(l->dir, 0755) < 0)
        return hc_fail(err, errno, "make %s", l->file);
    return hc_write_all(fd, l->secret, strlen(l->secret), err);
}

static const char *const words[] = {"given/words", "copied/words"};

static int make_words(const struct hc_decoys *l, int dir, struct hc_error *err)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        hc_autofd fd = openat(dir, words[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (fd < 0)
            return hc_fail(err, errno, "make %s/%s", l->dir, words[i]);
    }
    return 0;
}

/* A directory to read, with a link to the secret and a FIFO that this process has open, and one to be copied.
 */
static int make_dirs(struct hc_decoys *l, struct hc_error *err)
{
    hc_autofd dir = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)snprintf(l->given, sizeof l->given, "%s/given", l->dir);
    (void)snprintf(l->copied, sizeof l->copied, "%s/copied", l->dir);
    if (dir < 0 || mkdirat(dir, "given", 0755) < 0 || mkdirat(dir, "copied", 0755) < 0 ||
        symlinkat(l->file, dir, "given/out") < 0 || mkfifoat(dir, "given/pipe", 0666) < 0)
        return hc_fail(err, errno, "make directories in %s", l->dir);
    l->pipe_fd = openat(dir, "given/pipe", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (l->pipe_fd < 0)
        return hc_fail(err, errno, "open a pipe in %s", l->dir);
    return make_words(l, dir, err);
}

static void remove_dirs(const struct hc_decoys *l)
{
    static const char *const made[] = {"given/words", "copied/words", "given/out", "given/pipe"};
    hc_autofd dir = l->dir[0] ? open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0)
        return;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        (void)unlinkat(dir, made[i], 0);
    (void)unlinkat(dir, "given", AT_REMOVEDIR);
    (void)unlinkat(dir, "copied", AT_REMOVEDIR);
}

/* Listen on a socket with an abstract name. Connections are never accepted: an attack succeeds if it can
 * connect. */
static int listen_abstract(struct hc_decoys *l, struct hc_error *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t len = strlen(l->abstract);
    memcpy(at.sun_path + 1, l->abstract, len);
    l->abstract_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->abstract_fd < 0 ||
        bind(l->abstract_fd, (struct sockaddr *)&at,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len)) < 0 ||
        listen(l->abstract_fd, 64) < 0)
        return hc_fail(err, errno, "listen on an abstract socket");
    return 0;
}

static int listen_port(struct hc_decoys *l, struct hc_error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    l->tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->tcp_fd < 0 || bind(l->tcp_fd, (struct sockaddr *)&at, len) < 0 || listen(l->tcp_fd, 64) < 0 ||
        getsockname(l->tcp_fd, (struct sockaddr *)&at, &len) < 0)
        return hc_fail(err, errno, "listen on 127.0.0.1");
    l->port = ntohs(at.sin_port);
    return 0;
}

/* Make a shared memory segment and a message queue. A kernel may lack them; then no data can leak through
 * them. */
static void make_ipc(struct hc_decoys *l)
{
    l->shm_id = shmget(l->shm_key, 4096, IPC_CREAT | IPC_EXCL | 0666);
    char *text = l->shm_id >= 0 ? shmat(l->shm_id, NULL, 0) : (void *)-1;
    if (text != (void *)-1) {
        memcpy(text, l->secret, sizeof l->secret);
        (void)shmdt(text);
    }
    struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 64};
    l->mq = mq_open(l->queue, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666, &attr);
    if (l->mq != NO_QUEUE)
        (void)mq_send(l->mq, l->secret, strlen(l->secret), 0);
}

/* The child: end at once with a pid that a cell has, too; with another, wait until the drill is over. */
static _Noreturn void be_process(pid_t drill)
{
    if (getpid() < LEAST_PID || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != drill)
        _exit(EXIT_SUCCESS);
    for (;;)
        (void)pause();
}

/* Find a process whose pid no process of a cell has. A drill that is the first process of a container has the
 * pid of a cell's first process, and attacks would find that one by it. */
static int start_process(struct hc_decoys *l, struct hc_error *err)
{
    const pid_t self = getpid();
    if (self >= LEAST_PID) {
        l->pid = self;
        return 0;
    }
    for (int tries = 0; tries < 2 * LEAST_PID; tries++) {
        pid_t pid = fork();
        if (pid < 0)
            return hc_fail(err, errno, "start a process");
        if (pid == 0)
            be_process(self);
        l->pid = pid;
        if (pid >= LEAST_PID)
            return 0;
        (void)waitpid(pid, NULL, 0);
    }
    l->pid = 0;
    return hc_fail(err, 0, "no process got a pid above %d", LEAST_PID);
}

static void end_process(struct hc_decoys *l)
{
    if (l->pid > 0 && l->pid != getpid()) {
        (void)kill(l->pid, SIGKILL);
        (void)waitpid(l->pid, NULL, 0);
    }
    l->pid = 0;
}

int hc_decoys_put_up(struct hc_decoys *l, struct hc_error *err)
{
    *l = (struct hc_decoys){.pipe_fd = -1, .abstract_fd = -1, .tcp_fd = -1, .shm_id = -1, .mq = NO_QUEUE};
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return hc_fail(err, errno, "getrandom");
    for (size_t i = 0; i < sizeof random; i++)
        (void)snprintf(l->secret + 2 * i, 3, "%02x", random[i]);
    memcpy(&l->shm_key, random, sizeof l->shm_key);
    l->shm_key |= 1; /* 0 is IPC_PRIVATE */
    (void)snprintf(l->abstract, sizeof l->abstract, "hotcell-drill-%.12s", l->secret + 8);
    (void)snprintf(l->queue, sizeof l->queue, "/hotcell-drill-%.12s", l->secret + 8);
    if (make_file(l, err) < 0 || make_dirs(l, err) < 0 || listen_abstract(l, err) < 0 ||
        listen_port(l, err) < 0 || start_process(l, err) < 0)
        return hc_ctx(err, "put up what the attacks try for");
    make_ipc(l);
    return 0;
}

void hc_decoys_remove(struct hc_decoys *l)
{
    end_process(l);
    remove_dirs(l);
    hc_close_fd(&l->pipe_fd);
    if (l->file[0])
        (void)unlink(l->file);
    if (l->dir[0])
        (void)rmdir(l->dir);
    hc_close_fd(&l->abstract_fd);
    hc_close_fd(&l->tcp_fd);
    if (l->shm_id >= 0)
        (void)shmctl(l->shm_id, IPC_RMID, NULL);
    if (l->mq == NO_QUEUE)
        return;
    (void)mq_close(l->mq);
    (void)mq_unlink(l->queue);
}

cJSON *hc_decoys_print(const struct hc_decoys *l)
{
    struct utsname host;
    const int64_t boot_seconds = hc_clock_ns(CLOCK_BOOTTIME) / 1000000000;
    cJSON *o = cJSON_CreateObject();
    (void)uname(&host);
    (void)cJSON_AddStringToObject(o, "file", l->file);
    (void)cJSON_AddStringToObject(o, "secret", l->secret);
    (void)cJSON_AddStringToObject(o, "given", HC_DECOYS_GIVEN);
    (void)cJSON_AddStringToObject(o, "copied", HC_DECOYS_COPIED);
    (void)cJSON_AddStringToObject(o, "abstract", l->abstract);
    (void)cJSON_AddNumberToObject(o, "port", l->port);
    (void)cJSON_AddNumberToObject(o, "pid", l->pid);
    (void)cJSON_AddNumberToObject(o, "user", geteuid());
    (void)cJSON_AddStringToObject(o, "hostname", host.nodename);
    (void)cJSON_AddNumberToObject(o, "boottime", (double)boot_seconds);
    if (l->shm_id >= 0)
        (void)cJSON_AddNumberToObject(o, "shm", l->shm_key);
    if (l->mq != NO_QUEUE)
        (void)cJSON_AddStringToObject(o, "mqueue", l->queue);
    return o;
}
