/* formats.h - applies the rules for attributes to format strings, as in "{0.__globals__}".format(...). */
#ifndef HC_SHIM_GUARD_FORMATS_H
#define HC_SHIM_GUARD_FORMATS_H

/* Has str.format() and str.format_map() check the fields when the program calls them, not when libraries do.
 * -1 with an exception set. */
int hc_formats_guard(void);

#endif
