/* settle.h - the memory of a zygote, made cheap to copy: what its copies would do again and again, each for
 * itself, is done here once. */
#ifndef HC_SHIM_SETTLE_H
#define HC_SHIM_SETTLE_H

/* Before the interpreter starts: its memory lies in one piece, which huge pages can be had for. */
void hc_settle_begin(void);

/* Once everything that the copies share is there. What cannot be done is left: it costs time, nothing else.
 */
void hc_settle(void);

#endif
