/* immortal.h - have the zygote's objects no longer counted, where CPython has objects that are not. */
#ifndef HC_SHIM_IMMORTAL_H
#define HC_SHIM_IMMORTAL_H

/* Makes all objects that exist immortal, from CPython 3.12 on: a reference to one no longer changes it, so
 * that copies of this process share its pages. To be called when none of them is to be freed. */
void hc_immortal_make_all(void);

#endif
