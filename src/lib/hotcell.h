/* hotcell.h - libhotcell: run programs that nobody has checked in cells, from C and C++ (libhotcell(3)).
 *
 * A place runs programs: the command hotcell(1), which the library starts as a child process, or a
 * hotcelld(8). A job is one program, a session an interpreter that keeps its state for one program after
 * another. What became of a program is a result, made of its manifest, hotcell-manifest(5).
 *
 * Ownership: a function whose name ends in _free frees a handle, and takes NULL. Texts that a function
 * returns as `const char *` belong to the handle and live as long as it. Arguments are copied, except the
 * place, which must outlive its jobs and sessions.
 *
 * Errors: a function that can fail takes a `struct hotcell_error *`, which may be NULL, and fills it if it
 * returns NULL or HOTCELL_FAILED. A program that fails is no error: its result says so.
 *
 * Units: sizes are bytes, times of the library milliseconds. Limits are texts as for hotcell(1): "30s".
 *
 * Threads: different handles may be used by different threads at the same time, and a place by all of them. A
 * job, session, spec or result is used by one thread at a time. No thread may change the environment while a
 * place is opened, which reads HOTCELL, PATH, HOTCELL_SOCKET and HOTCELL_TOKEN, or a command is started.
 *
 * Processes: the library sets no handler and no mask of signals, raises no SIGPIPE, prints nothing, never
 * ends the process and changes no state of it. All its descriptors are close-on-exec. A process that it
 * starts is waited for by the job or session that it is for; SIGCHLD may come as for any child. A caller that
 * waits for children that it has not started, or ignores SIGCHLD, takes no more than the exit status from the
 * library. Ctrl-C in a terminal does not reach these processes. They end when this process ends, however it
 * ends. */
#ifndef HOTCELL_H
#define HOTCELL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Exit statuses of hotcell(1), in errors and in results. */
enum hotcell_exit {
    HOTCELL_EXIT_OK = 0,           /* the program came to its end */
    HOTCELL_EXIT_GUEST = 1,        /* the program failed */
    HOTCELL_EXIT_REJECTED = 2,     /* the program was rejected before it ran */
    HOTCELL_EXIT_LIMIT = 3,        /* a limit, or the caller, ended the program */
    HOTCELL_EXIT_USAGE = 64,       /* the call is wrong */
    HOTCELL_EXIT_DATA = 65,        /* an input, a name or a member of the spec is wrong */
    HOTCELL_EXIT_UNAVAILABLE = 69, /* no command, no daemon, or a host that cannot give the isolation */
    HOTCELL_EXIT_INTERNAL = 70,    /* hotcell or the host failed; whether the program ran is not known */
    HOTCELL_EXIT_CONFIG = 78       /* the policy, the tree or the configuration cannot be used */
};

struct hotcell_error {
    int status;      /* enum hotcell_exit */
    int sys;         /* errno of the cause; 0: none */
    char text[1024]; /* one line without a newline */
};

typedef struct hotcell_place hotcell_place;
typedef struct hotcell_spec hotcell_spec;
typedef struct hotcell_job hotcell_job;
typedef struct hotcell_session hotcell_session;
typedef struct hotcell_result hotcell_result;

/* What steps of jobs and sessions return. */
enum hotcell_progress {
    HOTCELL_FAILED = -1, /* it is over without a result, and the error says why */
    HOTCELL_PENDING = 0, /* it goes on */
    HOTCELL_READY = 1,   /* a job: it has ended, with a result; a session: it waits for the next request */
    HOTCELL_REFUSED = 2 /* a session: the request was invalid, and has changed nothing; the session goes on */
};

/* The library's version, such as "0.1.0". */
const char *hotcell_version(void);

/* ---- places ---- */

/* The command hotcell: `command` is its path, or its name on PATH. NULL: $HOTCELL, else "hotcell" on PATH. */
hotcell_place *hotcell_place_command(const char *command, struct hotcell_error *error);

/* A hotcelld: `address` is the path of its Unix socket, or "http://HOST:PORT". NULL: $HOTCELL_SOCKET, else
 * the default socket. `token` tells it the tenant over HTTP; NULL: $HOTCELL_TOKEN, for http:// alone. */
hotcell_place *hotcell_place_daemon(const char *address, const char *token, struct hotcell_error *error);

void hotcell_place_free(hotcell_place *place);

/* ---- specs ---- */

/* A spec says what is run: the members are those of "Job specs" in hotcell(1). Each function returns 0, or
 * HOTCELL_FAILED if a text is no UTF-8 or no JSON, or for want of memory. A member that is given again
 * replaces the older one. Names and values are checked when the job or session is started. */
hotcell_spec *hotcell_spec_new(void);
hotcell_spec *hotcell_spec_parse(const char *json, size_t len,
                                 struct hotcell_error *error); /* a whole spec */
void hotcell_spec_free(hotcell_spec *spec);

/* The program, `len` bytes. */
int hotcell_spec_code(hotcell_spec *spec, const char *code, size_t len, struct hotcell_error *error);
/* A member that is a text: "policy", "tree", "output_dir", "stdin", "job_id", "tenant", "sign", "workdir". */
int hotcell_spec_text(hotcell_spec *spec, const char *member, const char *text, struct hotcell_error *error);
/* A member as JSON: "args", "env", "labels", "seed", "return", "dirs", "persist_code", "command". */
int hotcell_spec_json(hotcell_spec *spec, const char *member, const char *json, struct hotcell_error *error);
/* A limit, a member of "limits": ("timeout", "30s"), ("memory", "512M"). */
int hotcell_spec_limit(hotcell_spec *spec, const char *limit, const char *value, struct hotcell_error *error);
/* A variable of the program, its value as JSON. */
int hotcell_spec_var(hotcell_spec *spec, const char *name, const char *json, struct hotcell_error *error);
/* A file of this host for the program, read as its name ends (.csv, .json ...); with "NAME:raw" the variable
 * is the file's path in the cell. For a daemon, and for runs of sessions, the file is sent with the request,
 * and read when that is made. */
int hotcell_spec_input(hotcell_spec *spec, const char *name, const char *path, struct hotcell_error *error);

/* ---- jobs ---- */

/* Starts a job. Does not wait for it; connecting to a daemon, resolving its name and reading the files of
 * inputs may block. NULL: it was not started. */
hotcell_job *hotcell_job_start(const hotcell_place *place, const hotcell_spec *spec,
                               struct hotcell_error *error);

/* A descriptor that is readable (POLLIN) when hotcell_job_step has something to do. It belongs to the job,
 * and stays the same; for poll(2), select(2) and epoll(7) alone. */
int hotcell_job_fd(const hotcell_job *job);

/* Does what can be done without waiting: HOTCELL_PENDING, HOTCELL_READY or HOTCELL_FAILED. */
int hotcell_job_step(hotcell_job *job, struct hotcell_error *error);

/* Waits until the job has ended, or for `timeout_ms` at most (-1: as long as it takes). As hotcell_job_step.
 */
int hotcell_job_wait(hotcell_job *job, int timeout_ms, struct hotcell_error *error);

/* Asks for the end of the job, which then ends with a result of status "killed", or with an error if it had
 * not begun. Does not wait. 0, also if the job has ended. */
int hotcell_job_cancel(hotcell_job *job, struct hotcell_error *error);

/* The result of a job that has ended, which the caller frees. NULL: there is none, or it was taken. */
hotcell_result *hotcell_job_take_result(hotcell_job *job);

/* Frees the job. One that has not ended is cancelled, and its end waited for: ten seconds at most, after
 * which it is killed. */
void hotcell_job_free(hotcell_job *job);

/* Starts a job and waits for its end. NULL: there is no result. */
hotcell_result *hotcell_run(const hotcell_place *place, const hotcell_spec *spec,
                            struct hotcell_error *error);

/* ---- sessions ---- */

/* Begins a session, of which `spec` has what concerns all of its runs: policy, tree, limits, inputs, vars,
 * env (NULL: nothing). It is HOTCELL_READY when its interpreter waits for the first run. */
hotcell_session *hotcell_session_start(const hotcell_place *place, const hotcell_spec *spec,
                                       struct hotcell_error *error);

/* As of jobs. With an idle session there is nothing to do, unless it ends by itself: then HOTCELL_FAILED. */
int hotcell_session_fd(const hotcell_session *session);
int hotcell_session_step(hotcell_session *session, struct hotcell_error *error);
int hotcell_session_wait(hotcell_session *session, int timeout_ms, struct hotcell_error *error);

/* Begins a run of the program in `spec`: code or command, vars, inputs, stdin, args, env, limits, return. The
 * session must be HOTCELL_READY. 0, or HOTCELL_FAILED: the run was not begun. */
int hotcell_session_run(hotcell_session *session, const hotcell_spec *spec, struct hotcell_error *error);

/* Raises KeyboardInterrupt in the run that goes on; without one it does nothing. Does not wait. */
int hotcell_session_interrupt(hotcell_session *session, struct hotcell_error *error);

/* The result of the last run, which the caller frees. NULL: there is none, or it was taken. */
hotcell_result *hotcell_session_take_result(hotcell_session *session);

/* Ends the session and frees it. A run that goes on is ended. Waits ten seconds at most, after which the
 * session's process is killed. */
void hotcell_session_free(hotcell_session *session);

/* ---- results ---- */

/* Texts are UTF-8, and come from the program unless the manifest says otherwise: they may hold anything. */
const char *hotcell_result_status(const hotcell_result *result); /* "ok", "error", "timeout", "memory" ... */
int hotcell_result_exit_code(const hotcell_result *result);      /* enum hotcell_exit */
const char *
hotcell_result_reason(const hotcell_result *result); /* a sentence; "": the program came to its end */
const char *hotcell_result_stdout(const hotcell_result *result, size_t *len); /* `len` may be NULL */
const char *hotcell_result_stderr(const hotcell_result *result, size_t *len);
/* The value of the program's last expression as JSON; NULL: it has none that is JSON. */
const char *hotcell_result_value(const hotcell_result *result);
/* A member of the manifest as JSON, such as "usage", "denials" or "guest"; it lives as long as the result.
 * NULL: there is no such member. */
const char *hotcell_result_member(hotcell_result *result, const char *name);
const char *hotcell_result_manifest(const hotcell_result *result, size_t *len); /* the whole manifest, JSON */
/* In a session: the number of the run, from 1, and which state the next run finds ("kept", "rolled back to
 * run 2"). Otherwise 0 and "". */
int hotcell_result_run(const hotcell_result *result);
const char *hotcell_result_state(const hotcell_result *result);

/* Files and figures that the program has left, `index` from 0. NULL and 0 beyond the last. The path is the
 * manifest's, below the output directory. */
size_t hotcell_result_file_count(const hotcell_result *result);
const char *hotcell_result_file_path(const hotcell_result *result, size_t index);
const char *hotcell_result_file_sha256(const hotcell_result *result, size_t index);
const char *hotcell_result_file_mime(const hotcell_result *result, size_t index); /* "": it is no figure */
uint64_t hotcell_result_file_size(const hotcell_result *result, size_t index);

/* Reads a file into memory, `*data` of `*len` bytes, which the caller frees with free(3): from the output
 * directory, or from the daemon, for whose answer it waits. 0, or HOTCELL_FAILED: it is not there, or its
 * content is not what the manifest says. */
int hotcell_result_read_file(const hotcell_place *place, const hotcell_result *result, size_t index,
                             void **data, size_t *len, struct hotcell_error *error);

void hotcell_result_free(hotcell_result *result);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
