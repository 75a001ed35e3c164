/* formats.h - "{0.__globals__}".format(...): attributes that a text names. */
#ifndef HC_SHIM_GUARD_FORMATS_H
#define HC_SHIM_GUARD_FORMATS_H

/* Have str.format() and str.format_map() look at the fields, for the program alone. -1 with an exception set.
 */
int hc_formats_guard(void);

#endif
