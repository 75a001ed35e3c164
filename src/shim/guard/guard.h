/* guard.h - enforces the policy's rules for Python code by early, clear refusals with file, line and a hint.
 *
 * Nothing here is a wall; the kernel is. A program can be refused by its syntax tree before any of it runs
 * (check.c), and its actions can be refused while it runs (builtins.c, imports.c, audit.c). A rule binds the
 * guest's own frames; the actions of libraries are left to the kernel, except effects that no library needs.
 * With guard off nothing is checked and nothing installed. */
#ifndef HC_SHIM_GUARD_GUARD_H
#define HC_SHIM_GUARD_GUARD_H

#include "shim/harness/finding.h"
#include "shim/guard/rules.h"
#include "shim/harness/py.h"

/* CPython's own syntax tree, pycore_ast.h; the names are CPython's.
 * NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl*) */
struct _mod;
struct _arena;
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl*) */

/* Adds the audit hook; called before the interpreter starts, so that it is the first hook. It lets all events
 * pass until hc_guard_install. -1: no memory. */
int hc_guard_prepare(void);

/* Installs the run-time checks for a program that will run in `space`, its globals (borrowed); called after
 * the job's data is loaded and before the program is read. -1 with an exception set. */
int hc_guard_install(PyObject *space);

/* Adds a refusal to `out` if the program is longer than the policy allows; called before the program is
 * parsed. -1 with an exception set. */
int hc_guard_check_size(const char *utf8, struct hc_findings *out);

/* Checks a whole program by its tree (borrowed) and text, and adds what it finds to `out`. Runs none of it.
 * 0, whatever it found; -1 with an exception set. */
int hc_guard_check(struct _mod *tree, const char *utf8, struct hc_findings *out);

#define HC_WRITE_GUARD "_write_" /* name of a built-in function, which no program may use */

/* If the policy guards writes: changes the accepted tree so that each statement that sets or deletes an
 * attribute or an item of an object calls HC_WRITE_GUARD for it. -1 with an exception set. */
int hc_guard_transform(struct _mod *tree, struct _arena *arena);

/* Prepares code of the program (may be NULL), compiled and not run yet: keeps the interpreter from loading
 * attributes without the guard at the first runs of an instruction (adaptive.c). */
void hc_guard_compiled(PyObject *code);

/* Sends refusals to the launcher from now on; called when HC_FRAME_RUN was sent. */
void hc_guard_begin(void);

/* Where the guard only learns: records the findings that would have refused the program. Called after
 * hc_guard_begin. */
void hc_guard_learn(const struct hc_findings *found);

/* Sends no further refusal to the launcher, as the report comes next. The checks stay on: threads of the
 * program may still run. */
void hc_guard_release(void);

#endif
