/* settler.h - the process that brings the ledger's log into its database, so that nobody who is served waits
 * for the disk. */
#ifndef HC_DAEMON_LEDGER_SETTLER_H
#define HC_DAEMON_LEDGER_SETTLER_H

/* Until the parent ends it, or something fails, which is said. Never returns. */
_Noreturn void hc_settler_main(void);

/* At the end, when nobody else has it open: the database is then all that is left of it. */
_Noreturn void hc_settler_last(void);

#endif
