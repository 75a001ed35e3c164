/* hidden.h - sys.modules without the modules that the policy hides (modules.scrub).
 *
 * Libraries, and the import system written in Python, see all of it. */
#ifndef HC_SHIM_GUARD_HIDDEN_H
#define HC_SHIM_GUARD_HIDDEN_H

/* Put the view in place, if the policy hides any. -1 with an exception set. */
int hc_hidden_modules(void);

#endif
