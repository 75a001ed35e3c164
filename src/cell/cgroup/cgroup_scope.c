/* Ask the user's service manager over D-Bus for a scope: a cgroup of the launcher's own that is delegated
 * to it. libsystemd is loaded only when it is needed, and hotcell does not link to it, as a host without
 * systemd lacks it. */
#include "cell/cgroup.h"

#include "base/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define PATIENCE_US 5000000 /* longest wait (us) for the manager, which may be busy with a login */

#define MANAGER "org.freedesktop.systemd1"  /* the manager's name on the bus */
#define OBJECT  "/org/freedesktop/systemd1" /* the manager's object path */

/* The declarations of sd-bus(3) that are used here, so that its header is not needed to build. */
struct sd_bus;
struct sd_bus_message;
struct bus_error {
    const char *name, *message;
    int need_free;
};
typedef int on_signal(struct sd_bus_message *m, void *ctx, struct bus_error *ignored);

struct library {
    int (*open_user)(struct sd_bus **out);
    int (*is_ready)(struct sd_bus *bus);
    int (*set_timeout)(struct sd_bus *bus, uint64_t usec);
    int (*match_signal)(struct sd_bus *bus, void **slot, const char *sender, const char *path,
                        const char *interface, const char *member, on_signal *callback, void *ctx);
    int (*call_method)(struct sd_bus *bus, const char *destination, const char *path, const char *interface,
                       const char *member, struct bus_error *error, struct sd_bus_message **reply,
                       const char *types, ...);
    int (*read)(struct sd_bus_message *m, const char *types, ...);
    int (*process)(struct sd_bus *bus, struct sd_bus_message **out);
    int (*wait)(struct sd_bus *bus, uint64_t usec);
    void (*error_free)(struct bus_error *error);
    struct sd_bus_message *(*message_unref)(struct sd_bus_message *m);
    struct sd_bus *(*close_unref)(struct sd_bus *bus);
};

static int load_library(struct library *lib, struct hc_error *err)
{
    void *handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return hc_fail(err, 0, "libsystemd is not installed");
    const struct {
        const char *name;
        void *at;
    } symbols[] = {
        {"sd_bus_open_user", &lib->open_user},
        {"sd_bus_is_ready", &lib->is_ready},
        {"sd_bus_set_method_call_timeout", &lib->set_timeout},
        {"sd_bus_match_signal", &lib->match_signal},
        {"sd_bus_call_method", &lib->call_method},
        {"sd_bus_message_read", &lib->read},
        {"sd_bus_process", &lib->process},
        {"sd_bus_wait", &lib->wait},
        {"sd_bus_error_free", &lib->error_free},
        {"sd_bus_message_unref", &lib->message_unref},
        {"sd_bus_close_unref", &lib->close_unref},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *symbol = dlsym(handle, symbols[i].name);
        if (!symbol)
            return hc_fail(err, 0, "libsystemd is too old: it has no %s", symbols[i].name);
        memcpy(symbols[i].at, &symbol,
               sizeof symbol); /* POSIX's way to turn an object pointer into a function pointer */
    }
    return 0; /* the library stays loaded, as it cannot be unloaded */
}

/* The manager's job that starts the scope. The signal of its end may come before the call that began it
 * returns. */
struct start {
    const struct library *lib; /* borrowed */
    const char *scope;         /* name of the scope */
    bool over;                 /* the job has ended */
    char result[32];           /* the manager's word for its end: "done", ... */
};

static int on_job_removed(struct sd_bus_message *m, void *ctx, struct bus_error *ignored)
{
    struct start *s = ctx;
    const char *path, *unit, *result;
    uint32_t id;
    (void)ignored;
    if (s->lib->read(m, "uoss", &id, &path, &unit, &result) >= 0 && strcmp(unit, s->scope) == 0) {
        s->over = true;
        (void)snprintf(s->result, sizeof s->result, "%s", result);
    }
    return 0;
}

/* Process messages that wait, or wait for one. 0: the state may have changed; else a negative errno. */
static int process_or_wait(const struct library *lib, struct sd_bus *bus, int64_t until)
{
    int rc = lib->process(bus, NULL);
    if (rc != 0)
        return rc < 0 ? rc : 0;
    int64_t left = until - hc_now_us();
    if (left <= 0)
        return -ETIMEDOUT;
    rc = lib->wait(bus, (uint64_t)left);
    return rc < 0 && rc != -EINTR ? rc : 0;
}

/* Wait for the connection here, as a method call would wait longer for it than PATIENCE_US. */
static int await_connection(const struct library *lib, struct sd_bus *bus, int64_t until,
                            struct hc_error *err)
{
    int ready;
    while ((ready = lib->is_ready(bus)) == 0) {
        int rc = process_or_wait(lib, bus, until);
        if (rc < 0)
            return hc_fail(err, -rc, "reach the user's bus");
    }
    return ready < 0 ? hc_fail(err, -ready, "reach the user's bus") : 0;
}

static int await_job(struct sd_bus *bus, struct start *s, int64_t until, struct hc_error *err)
{
    while (!s->over) {
        int rc = process_or_wait(s->lib, bus, until);
        if (rc < 0)
            return hc_fail(err, -rc, "wait for the scope");
    }
    return strcmp(s->result, "done") == 0 ? 0 : hc_fail(err, 0, "the scope was not started: %s", s->result);
}

static int start_scope(struct sd_bus *bus, struct start *s, struct hc_error *err)
{
    const struct library *lib = s->lib;
    int64_t until = hc_now_us() + PATIENCE_US;
    struct bus_error error = {0};
    if (await_connection(lib, bus, until, err) < 0)
        return -1;
    int rc = lib->set_timeout(bus, PATIENCE_US);
    if (rc >= 0)
        rc = lib->match_signal(bus, NULL, MANAGER, OBJECT, MANAGER ".Manager", "JobRemoved", on_job_removed,
                               s);
    if (rc < 0)
        return hc_fail(err, -rc, "listen on the user's bus");
    /* The scope's name, what to do if a unit of that name exists, four properties, no further units. */
    rc = lib->call_method(bus, MANAGER, OBJECT, MANAGER ".Manager", "StartTransientUnit", &error, NULL,
                          "ssa(sv)a(sa(sv))", s->scope, "fail", 4, "PIDs", "au", 1, (uint32_t)getpid(),
                          "Delegate", "b", 1, "CollectMode", "s", "inactive-or-failed", "Description", "s",
                          "hotcell job", 0);
    if (rc < 0)
        (void)hc_fail(err, error.message ? 0 : -rc, "start a scope%s%.200s", error.message ? ": " : "",
                      error.message ? error.message : "");
    lib->error_free(&error);
    return rc < 0 ? -1 : await_job(bus, s, until, err);
}

int hc_cgroup_enter_scope(struct hc_error *err)
{
    struct library lib;
    struct sd_bus *bus = NULL;
    uint32_t random;
    char name[64];
    if (load_library(&lib, err) < 0)
        return -1;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return hc_fail(err, errno, "getrandom");
    (void)snprintf(name, sizeof name, HC_SCOPE_PREFIX "%d-%08x.scope", getpid(), random);
    int rc = lib.open_user(&bus);
    if (rc < 0)
        return hc_fail(err, -rc, "reach the user's bus");
    struct start start = {.lib = &lib, .scope = name};
    rc = start_scope(bus, &start, err);
    (void)lib.close_unref(bus);
    return rc;
}
