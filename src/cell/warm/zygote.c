/* Zygotes from the launcher's side: build one as any cell is built, and ask it for copies of itself
 * (inside/park.h). */
#include "cell/warm/zygote.h"

#include "base/fd.h"
#include "base/kernel.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/packet.h"
#include "cell/filter.h"
#include "cell/launch/launch.h"
#include "cell/warm/networks.h"
#include "inside/park.h"
#include "policy/ladder.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define START_SECONDS 120 /* longest time for imports, on the slowest machine */
/* Bytes that a cell may leave charged to the zygote's cgroup, such as page tables. */
#define COPY_BYTES (INT64_C(1) << 20)
#define PRINTED    4096  /* most bytes kept of the end of what a zygote prints while it starts */
#define PIPE_BYTES 65536 /* bytes that a pipe holds */

struct hc_zygote {
    struct hc_launch l;      /* the zygote as a cell */
    struct hc_run run;       /* parameters of its launch */
    struct hc_policy policy; /* the borrowed policy, but for its rules, which are the rung's and owned */
    struct hc_job job;       /* without code; needed for the handover */
    struct hc_manifest m;    /* gets the evidence of its layers; not printed */
    char key[HC_SHA256_HEX]; /* hc_warm_key of the policy without a tenant */
    int64_t program_bytes;   /* hc_launch_program_bytes of the zygote */
    char sample[HC_FRAME_SAMPLE_TEXT + 1]; /* why its sample failed; "": it did not */
    int filters;                           /* number of seccomp filters that the zygote is under */
    int made;                              /* number of cells made so far */
    size_t next;                           /* index in the block of ids of the next one to use */
    struct hc_namespaces namespaces;       /* filled when the first cell is checked */
    struct hc_networks networks;           /* empty if programs may make sockets */
    int alive[HC_ZYGOTE_IDS]; /* for each id the pidfd of the cell that has it, owned; -1: none */
};

/* ---- starting a zygote ---- */

/* Make a random name for the cgroup of a zygote or of its cell, which have no job's name yet. */
static int leaf_name(const char *kind, char out[64], struct hc_error *err)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return hc_fail(err, errno, "getrandom");
    (void)snprintf(out, 64, "%s-%016llx", kind, (unsigned long long)random);
    return 0;
}

/* Make the zygote's cgroup. Its imports may use the memory that a job's may use; each copy leaves some
 * memory charged here, such as its page tables, when it moves to a cgroup of its own. */
static int prepare_place(struct hc_launch *l, struct hc_error *err)
{
    char name[64];
    struct hc_limits limits = l->run->policy->limits;
    int found = hc_launch_find_place(l, err);
    if (found <= 0)
        return found < 0 ? found : hc_launch_check_watch(l, err);
    limits.memory += COPY_BYTES * HC_ZYGOTE_IDS;
    limits.pids += HC_ZYGOTE_IDS;
    for (size_t i = 0; i < hc_options_count; i++)
        if (hc_cgroup_optional(&hc_options[i]))
            *hc_limit_place(&limits, &hc_options[i]) = hc_options[i].def;
    (void)hc_cgroup_reap(&l->parent);
    if (leaf_name("zygote", name, err) < 0 || hc_cgroup_create(&l->cgroup, &l->parent, name, err) < 0)
        return -1;
    return hc_cgroup_limit(&l->cgroup, &limits, err) < 0 ? hc_ctx(err, "limit the zygote") : 0;
}

/* The end of what the zygote has printed. */
struct printed {
    char text[PRINTED + 1];
    size_t len; /* bytes in `text`, at most PRINTED */
};

/* Take some of what it prints, and keep the end. False: it prints no more. */
static bool take_printed(int fd, struct printed *p)
{
    char more[PRINTED];
    const ssize_t n = TEMP_FAILURE_RETRY(read(fd, more, sizeof more));
    if (n <= 0)
        return false;
    const size_t kept = MIN(p->len, sizeof more - (size_t)n);
    memmove(p->text, p->text + p->len - kept, kept);
    memcpy(p->text + kept, more, (size_t)n);
    p->len = kept + (size_t)n;
    return true;
}

/* The last line that was printed by a process that has ended, for the policy's author. Borrowed from `p`,
 * which has what was read of it so far. What is read is bounded: a process that lives could print for ever.
 */
static const char *last_line(int fd, struct printed *p)
{
    struct pollfd more = {.fd = fd, .events = POLLIN};
    for (size_t i = 0; i <= PIPE_BYTES / PRINTED && poll(&more, 1, 0) > 0; i++)
        if (!take_printed(fd, p))
            break;
    if (p->len && p->text[p->len - 1] == '\n')
        p->len--;
    p->text[p->len] = '\0';
    const char *newline = memrchr(p->text, '\n', p->len);
    return newline ? newline + 1 : p->text;
}

/* Take one of the zygote's frames. 1: it is ready; 0: it will say more. */
static int take_frame(struct hc_zygote *z, struct printed *p, struct hc_error *err)
{
    char packet[sizeof(struct hc_frame_head) + HC_FRAME_SAMPLE_TEXT];
    struct hc_frame_head head;
    const void *payload;
    ssize_t n = TEMP_FAILURE_RETRY(recv(z->l.control_fd, packet, sizeof packet, 0));
    if (n < 0 && errno != ECONNRESET)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "wait for the zygote");
    if (n <= 0)
        return hc_fail_as(err, HC_EXIT_CONFIG, 0, "the zygote ended while it was starting: %s",
                          last_line(z->l.stderr_fd, p));
    bool good = hc_frame_parse(packet, (size_t)n, &head, &payload, err) == 0;
    if (good && head.type == HC_FRAME_READY)
        return 1;
    if (!good || head.type != HC_FRAME_SAMPLE || z->sample[0] || !head.len)
        return hc_fail(err, 0, "the zygote said what it should not");
    memcpy(z->sample, payload, head.len);
    return 0;
}

/* Meanwhile read what the policy's code prints, without which it would wait for us. */
static int await_ready(struct hc_zygote *z, struct hc_error *err)
{
    struct printed printed = {.len = 0}, ignored = {.len = 0};
    struct pollfd on[] = {{.fd = z->l.control_fd, .events = POLLIN},
                          {.fd = z->l.stderr_fd, .events = POLLIN},
                          {.fd = z->l.stdout_fd, .events = POLLIN}};
    const int64_t end = hc_mono_ms() + START_SECONDS * 1000;
    for (int rc = 0; rc == 0;) {
        const int64_t left = end - hc_mono_ms();
        if (left <= 0)
            return hc_fail_as(err, HC_EXIT_CONFIG, 0, "the zygote was not ready within %d s", START_SECONDS);
        if (TEMP_FAILURE_RETRY(poll(on, sizeof on / sizeof *on, (int)left)) < 0)
            return hc_fail(err, errno, "poll");
        if (on[1].revents && !take_printed(on[1].fd, &printed))
            on[1].fd = -1;
        if (on[2].revents && !take_printed(on[2].fd, &ignored))
            on[2].fd = -1;
        if (on[0].revents && (rc = take_frame(z, &printed, err)) < 0)
            return -1;
    }
    return 0;
}

static int start_zygote(struct hc_zygote *z, struct hc_error *err)
{
    struct hc_launch *l = &z->l;
    if (l->plan.policy->output_mode == HC_OUTPUT_BIND)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "output.mode \"bind\" has no warm cells");
    if (prepare_place(l, err) < 0 || /* before the filters, as for any cell */
        hc_launch_prepare_zygote(l, err) < 0 || hc_launch_construct(l, err) < 0 || await_ready(z, err) < 0)
        return -1;
    z->program_bytes = hc_launch_program_bytes(l);
    /* Later output of the zygote is not read. */
    hc_close_fd(&l->stdout_fd);
    hc_close_fd(&l->stderr_fd);
    return 0;
}

/* Fill in the policy of the zygote, whose key is that of the whole policy: a cell of any rung will do for a
 * job. */
static int take_policy(struct hc_zygote *z, const struct hc_policy *policy, size_t rung, struct hc_error *err)
{
    const size_t top = hc_ladder_height(policy->rules) - 1;
    z->policy = *policy;
    z->policy.rules = hc_ladder_rules(policy->rules, MIN(rung, top));
    if (policy->rules && !z->policy.rules)
        return hc_fail(err, ENOMEM, "the policy of a zygote");
    return hc_warm_key(policy, NULL, z->key, err);
}

int hc_zygote_start(struct hc_zygote **out, const struct hc_policy *policy, size_t rung, struct hc_error *err)
{
    static char none[] = "";
    *out = NULL;
    struct hc_zygote *z = calloc(1, sizeof *z);
    if (!z)
        return hc_fail(err, ENOMEM, "zygote");
    for (size_t i = 0; i < HC_ZYGOTE_IDS; i++)
        z->alive[i] = -1;
    z->job.code = none;
    z->job.session = policy->session;
    z->filters = hc_status_own_filters() + 1;
    z->run = (struct hc_run){.job = &z->job, .policy = &z->policy, .cancel_fd = -1};
    hc_launch_init(&z->l, &z->run, &z->m);
    if (take_policy(z, policy, rung, err) < 0 || start_zygote(z, err) < 0) {
        hc_zygote_stop(z);
        return hc_ctx(err, "start a zygote");
    }
    *out = z;
    return 0;
}

void hc_zygote_stop(struct hc_zygote *z)
{
    if (!z)
        return;
    for (size_t i = 0; i < HC_ZYGOTE_IDS; i++)
        hc_close_fd(&z->alive[i]);
    hc_networks_finish(&z->networks);
    hc_launch_finish(&z->l);
    cJSON_Delete(z->policy.rules);
    free(z);
}

size_t hc_zygote_trees(const struct hc_zygote *z, const char **name, const char *ids[HC_MAX_TREE_LAYERS + 1])
{
    *name = z->run.policy->tree;
    ids[0] = z->m.tree_sha256;
    for (size_t i = 0; i < z->m.tree_layers.count; i++)
        ids[i + 1] = z->m.tree_layers.list[i].sha256;
    return z->m.tree_layers.count + 1;
}

const char *hc_zygote_sample(const struct hc_zygote *z)
{
    return z->sample;
}

int hc_zygote_made(const struct hc_zygote *z)
{
    return z->made;
}

int hc_zygote_pidfd(const struct hc_zygote *z)
{
    return z->l.sup.pidfd;
}

/* ---- making cells that wait ---- */

/* Close the pidfds of cells that have ended. Returns the number of those that live. */
static size_t count_living(struct hc_zygote *z)
{
    struct pollfd ends[HC_ZYGOTE_IDS];
    size_t at[HC_ZYGOTE_IDS], count = 0, living = 0;
    for (size_t i = 0; i < z->l.block_count; i++) {
        if (z->alive[i] < 0)
            continue;
        at[count] = i;
        ends[count++] = (struct pollfd){.fd = z->alive[i], .events = POLLIN};
    }
    const bool told = poll(ends, count, 0) > 0;
    for (size_t i = 0; i < count; i++) {
        if (told && ends[i].revents)
            hc_close_fd(&z->alive[at[i]]);
        else
            living++;
    }
    return living;
}

bool hc_zygote_has_room(struct hc_zygote *z)
{
    return !z->l.block_count || count_living(z) < z->l.block_count;
}

/* The next id of the block that no living cell has, so that a freed id is not reused at once. -1: all are
 * in use. */
static int find_free_id(struct hc_zygote *z)
{
    if (!hc_zygote_has_room(z))
        return -1;
    for (size_t i = 0; i < z->l.block_count; i++) {
        size_t at = (z->next + i) % z->l.block_count;
        if (z->alive[at] >= 0)
            continue;
        z->next = at + 1;
        return (int)at;
    }
    return -1;
}

/* One cell that is being made. */
struct parking {
    struct hc_run run;               /* the zygote's, but for the share */
    struct hc_launch l;              /* used for its channels and for the place of its cgroup only */
    struct hc_parked *p;             /* the cell, borrowed */
    struct hc_cell_network *network; /* the network namespace that it is to have, borrowed; NULL: a new one */
    int slot; /* index of the cell's id in the block; -1: an ordinary user's cells have its own uid */
};

static int send_request(const struct hc_zygote *z, const struct parking *k, struct hc_error *err)
{
    const struct hc_plan *plan = &k->l.plan;
    const struct hc_policy *policy = z->run.policy;
    const uid_t id = k->slot < 0 ? HC_GUEST_ID : HC_ZYGOTE_FIRST_ID + (uid_t)k->slot;
    struct hc_park park_cell = {
        .magic = HC_PARK_MAGIC,
        .uid = id,
        .gid = id,
        .limits = policy->limits,
        .network = policy->network,
        .cores = policy->cores,
        .output_mode = policy->output_mode,
        .rlimit_pids = k->p->cgroup.fd < 0,
        .rlimit_memory = k->p->cgroup.fd < 0,
    };
    const int fds[HC_PARK_FDS] = {[HC_PARK_SYNC] = plan->sync_fd,
                                  [HC_PARK_STDOUT] = plan->stdout_fd,
                                  [HC_PARK_STDERR] = plan->stderr_fd,
                                  [HC_PARK_STATUS] = plan->status_fd,
                                  [HC_PARK_NETWORK] = k->network ? k->network->fd : -1};
    const size_t count = k->network ? HC_PARK_FDS : HC_PARK_NETWORK;
    return hc_packet_send(z->l.control_fd, &park_cell, sizeof park_cell, fds, count, 0) < 0
               ? hc_fail_as(err, HC_EXIT_UNAVAILABLE, errno, "ask the zygote for a cell")
               : 0;
}

/* May a network namespace of this zygote's cells be used again? Not if their filters let programs make
 * sockets that are no pairs (policy/calls.c). */
static bool shares_networks(const struct hc_zygote *z)
{
    return !(hc_filter_when(HC_FILTER_JOB, &z->policy, z->l.cgroup.fd >= 0) & HC_WITH_SOCKETS);
}

/* Check that no namespace of the new cell is the zygote's, which cannot leave its own, and that it has the
 * network namespace that it should have. */
static int check_namespaces(struct hc_zygote *z, const struct parking *k, struct hc_error *err)
{
    struct hc_parked *p = k->p;
    if ((!z->namespaces.inodes[0] && hc_namespaces_read(z->l.sup.pid, &z->namespaces, err) < 0) ||
        hc_namespaces_read(p->pid, &p->namespaces, err) < 0)
        return hc_ctx(err, "look at a new cell");
    const char *common = hc_namespaces_common(&p->namespaces, &z->namespaces);
    if (common)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "a new cell has the %s namespace of its zygote",
                          common);
    return shares_networks(z)
               ? hc_networks_take(&z->networks, k->network, hc_namespaces_network(&p->namespaces), p->pid,
                                  p->fds[HC_PARKED_PIDFD], err)
               : 0;
}

/* The kernel names the packet's sender, which waits for our answer, so the pid is still its own. */
static int handle_birth(struct parking *k, pid_t sender, struct hc_error *err)
{
    const struct hc_sync go = {.kind = HC_SYNC_GO};
    struct hc_parked *p = k->p;
    if (sender <= 0 || p->pid)
        return hc_fail(err, 0, "a new cell that is not to be told from others");
    p->pid = sender;
    p->fds[HC_PARKED_PIDFD] = (int)syscall(SYS_pidfd_open, sender, 0);
    if (p->fds[HC_PARKED_PIDFD] < 0)
        return hc_fail(err, errno, "open the first process of a new cell");
    if (p->cgroup.fd >= 0 && hc_cgroup_move_process(&p->cgroup, sender, err) < 0)
        return hc_ctx(err, "put a new cell into its cgroup");
    return TEMP_FAILURE_RETRY(send(k->l.sync_fd, &go, sizeof go, MSG_NOSIGNAL)) < 0
               ? hc_fail(err, errno, "start the first process of a new cell")
               : 0;
}

static int handle_kept_fds(struct hc_parked *p, struct hc_arrival *a, struct hc_error *err)
{
    static const enum hc_parked_fd places[HC_SYNC_FDS] = {HC_PARKED_OUTPUT, HC_PARKED_TMP, HC_PARKED_CONTROL,
                                                          HC_PARKED_INPUT};
    for (size_t i = 0; i < HC_SYNC_FDS; i++)
        if (a->fds[i] < 0)
            return hc_fail(err, 0, "a new cell that hands too little over");
    for (size_t i = 0; i < HC_SYNC_FDS; i++)
        p->fds[places[i]] = hc_take(&a->fds[i]);
    return 0;
}

/* Accept each kind of message once, so that a compromised zygote cannot keep the launcher here. */
static int handle_message(struct hc_zygote *z, struct parking *k, struct hc_arrival *a, struct hc_error *err)
{
    struct hc_parked *p = k->p;
    if (a->msg.kind == HC_SYNC_ERROR)
        return hc_sync_failure(a, err);
    if (a->msg.kind == HC_SYNC_BORN)
        return handle_birth(k, a->sender, err);
    if (a->sender != p->pid)
        return hc_fail(err, 0, "a message from another process than the new cell's first");
    if (a->msg.kind == HC_SYNC_KEPT && p->fds[HC_PARKED_CONTROL] < 0)
        return handle_kept_fds(p, a, err);
    if (a->msg.kind != HC_SYNC_FACTS || p->facts.pid || p->fds[HC_PARKED_CONTROL] < 0)
        return hc_fail(err, 0, "a message from a new cell that is not due (kind %d)", a->msg.kind);
    p->facts = a->msg.facts;
    return check_namespaces(z, k, err);
}

static int await_parked(struct hc_zygote *z, struct parking *k, struct hc_error *err)
{
    for (;;) {
        struct hc_arrival a;
        int rc = hc_sync_receive(k->l.sync_fd, &a, err);
        if (rc == 1)
            break;
        if (rc == 0)
            rc = handle_message(z, k, &a, err);
        for (size_t i = 0; i < HC_SYNC_FDS; i++)
            hc_close_fd(&a.fds[i]);
        if (rc < 0)
            return -1;
    }
    struct pollfd ready = {.fd = k->p->fds[HC_PARKED_CONTROL], .events = POLLIN};
    if (k->p->facts.pid != 1 || ready.fd < 0 || k->p->fds[HC_PARKED_INPUT] < 0 || poll(&ready, 1, 0) < 0 ||
        !(ready.revents & POLLIN) || ready.revents & POLLHUP) {
        struct printed printed = {.len = 0};
        const char *why = last_line(k->l.stderr_fd, &printed);
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0, "the new cell ended before it was ready%s%s",
                          *why ? ": " : "", why);
    }
    return 0;
}

static int make_channels(struct parking *k, struct hc_error *err)
{
    const int on = 1;
    if (hc_launch_prepare_channels(&k->l, err) < 0)
        return -1;
    return setsockopt(k->l.sync_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0
               ? hc_fail(err, errno, "setsockopt")
               : 0;
}

/* Make the cell's cgroup and set all limits before the cell exists. */
static int make_cgroup(const struct hc_zygote *z, struct parking *k, struct hc_error *err)
{
    struct hc_parked *p = k->p;
    char name[64];
    struct hc_cgroup_disks disks = {0};
    const struct hc_limits *limits = &z->run.policy->limits;
    if (z->l.cgroup.fd < 0) {
        (void)snprintf(p->no_cgroup, sizeof p->no_cgroup, "%.199s", z->l.no_cgroup);
        return 0;
    }
    if (hc_launch_find_place(&k->l, err) < 0 || leaf_name("warm", name, err) < 0 ||
        hc_cgroup_create(&p->cgroup, &k->l.parent, name, err) < 0)
        return -1;
    p->cgroup.parent_fd = -1; /* `k`, which owns that descriptor, ends before the cell */
    if (hc_cgroup_limit(&p->cgroup, limits, err) < 0)
        return hc_ctx(err, "limit a new cell");
    p->io = hc_cgroup_asks_io(limits) && p->cgroup.io && hc_cgroup_disk_of(&disks, z->l.plan.tree.fd);
    return p->io ? hc_cgroup_limit_io(&p->cgroup, limits, &disks, err) : 0;
}

static int park_cell(struct hc_zygote *z, struct parking *k, struct hc_error *err)
{
    if (z->l.block_count && (k->slot = find_free_id(z)) < 0)
        return hc_fail_as(err, HC_EXIT_UNAVAILABLE, 0,
                          "the zygote has %u cells, for more of which it has no uids", z->l.block_count);
    k->network = shares_networks(z) ? hc_networks_idle(&z->networks) : NULL;
    if (make_cgroup(z, k, err) < 0 || make_channels(k, err) < 0 || send_request(z, k, err) < 0)
        return -1;
    hc_launch_close_childs_ends(&k->l);
    if (await_parked(z, k, err) < 0)
        return -1;
    struct hc_parked *p = k->p;
    p->fds[HC_PARKED_STDOUT] = hc_take(&k->l.stdout_fd);
    p->fds[HC_PARKED_STDERR] = hc_take(&k->l.stderr_fd);
    p->fds[HC_PARKED_STATUS] = hc_take(&k->l.status_fd);
    p->uid = k->slot < 0 ? z->l.ids.uid : z->l.block.uid + (uid_t)k->slot;
    p->gid = k->slot < 0 ? z->l.ids.gid : z->l.block.gid + (gid_t)k->slot;
    p->filters = z->filters;
    p->born_us = hc_now_us();
    memcpy(p->tree, z->m.tree_sha256, sizeof p->tree);
    p->tree_layers = z->m.tree_layers;
    p->program_bytes = z->program_bytes;
    p->tree_checked = z->m.tree_checked;
    if (k->slot >= 0 && (z->alive[k->slot] = fcntl(p->fds[HC_PARKED_PIDFD], F_DUPFD_CLOEXEC, 0)) < 0)
        return hc_fail(err, errno, "keep an eye on a new cell");
    z->made++;
    return 0;
}

int hc_zygote_park(struct hc_zygote *z, const struct hc_zygote_heir *heir, struct hc_parked *out,
                   struct hc_error *err)
{
    struct parking k = {.p = out, .slot = -1, .run = z->run};
    if (heir && heir->share.weight)
        k.run.share = heir->share;
    hc_parked_init(out);
    memcpy(out->key, heir ? heir->key : z->key, sizeof out->key);
    hc_launch_init(&k.l, &k.run, &z->m);
    int rc = park_cell(z, &k, err);
    hc_launch_finish(&k.l);
    if (rc == 0)
        return 0;
    if (k.network)
        hc_networks_drop(&z->networks, k.network);
    hc_parked_finish(out);
    return hc_ctx(err, "park a cell");
}
