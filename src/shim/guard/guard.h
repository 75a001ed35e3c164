/* guard.h - the Python-level policy: early, clear refusals with file, line and a hint.
 *
 * Nothing here is a wall; the kernel is. Two moments: a program can be refused by its syntax tree before any
 * of it runs (check.c), and what it does can be refused while it runs (builtins.c, imports.c, audit.c). A
 * rule binds the guest's own frames: what a library does for itself is the kernel's business, save effects
 * that no library needs. With guard off nothing is checked and nothing installed. */
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

/* Before the interpreter starts: the audit hook, so that it is the first there is and no later one runs
 * without it. It lets everything through until hc_guard_install. -1: no memory. */
int hc_guard_prepare(void);

/* Put the run-time checks in place, for a program that will run in `space` (lent): after the job's data is
 * loaded, before the program is read. 0, or -1 with a Python exception set. */
int hc_guard_install(PyObject *space);

/* Is the program longer than the policy allows? Asked before it is parsed. 0, or -1 with an exception. */
int hc_guard_check_size(const char *utf8, struct hc_findings *out);

/* Judge a whole program by its tree (lent) and text. Runs none of it. 0, whatever was found, or -1 with a
 * Python exception set. */
int hc_guard_check(struct _mod *tree, const char *utf8, struct hc_findings *out);

#define HC_WRITE_GUARD "_write_" /* a built-in function; no program may name it */

/* With guarded writes: change the tree that was accepted so that whatever sets or deletes an attribute or an
 * item of an object asks HC_WRITE_GUARD for it. -1 with an exception. */
int hc_guard_transform(struct _mod *tree, struct _arena *arena);

/* Code of the program (may be NULL), compiled and not run yet: have it ask for attributes at first. */
void hc_guard_compiled(PyObject *code);

/* The program runs from here on, as the launcher has been told: it hears of refusals. */
void hc_guard_begin(void);

/* Where the guard only learns: what the check of the program would have refused is noted. After
 * hc_guard_begin. */
void hc_guard_learn(const struct hc_findings *found);

/* The launcher is told of no further refusal, because the report comes now. The guard stays: threads of the
 * program may still run. */
void hc_guard_release(void);

#endif
