/* picklable.h - says which classes and functions a pickle may name. */
#ifndef HC_SHIM_GUARD_PICKLABLE_H
#define HC_SHIM_GUARD_PICKLABLE_H

#include <stdbool.h>

/* May a pickle name `module`.`name`? Loading a pickle calls what it names: it may call classes that build
 * data, but not functions that have effects. */
bool hc_picklable(const char *module, const char *name);

#endif
