/* wal_checkpoint.h - the process that brings the ledger's log into its database, so that nobody who is served
 * waits for the disk. */
#ifndef HC_DAEMON_LEDGER_WAL_CHECKPOINT_H
#define HC_DAEMON_LEDGER_WAL_CHECKPOINT_H

/* Until the parent ends it, or something fails, which is said. Never returns. */
_Noreturn void hc_wal_checkpoint_main(void);

/* At the end, when nobody else has it open: the database is then all that is left of it. */
_Noreturn void hc_wal_checkpoint_last(void);

#endif
