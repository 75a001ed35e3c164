/* guard.h - where the Python-level policy will stand: early, clear refusals with file, line and a hint.
 *
 * Nothing here is a wall; the kernel is. Two entry points, because there are two moments: a program can be
 * refused by its syntax tree before any of it runs, and what it does can be refused while it runs. With guard
 * "none", which is all that there is so far, both allow everything. */
#ifndef HC_SHIM_GUARD_GUARD_H
#define HC_SHIM_GUARD_GUARD_H

#include "shim/harness/reject.h"

/* Put the run-time checks in place: after the job's data is loaded, before the program is read.
 * 0, or -1 with a Python exception set. */
int hc_guard_install(void);

/* CPython's own syntax tree, pycore_ast.h; the name is CPython's.
 * NOLINTNEXTLINE(bugprone-reserved-identifier,cert-dcl*) */
struct _mod;

/* Judge a whole program by its tree (lent). 0, or -1 with `why` filled. Must not run any of it. */
int hc_guard_check(struct _mod *tree, struct hc_rejection *why);

#endif
