/* picklable.h - what a pickle may name. */
#ifndef HC_SHIM_GUARD_PICKLABLE_H
#define HC_SHIM_GUARD_PICKLABLE_H

#include <stdbool.h>

/* Loading a pickle calls what it names: data that comes so may be built by classes, not by functions that
 * have effects. */
bool hc_picklable(const char *module, const char *name);

#endif
