/* wal_checkpoint.h - the process that copies the ledger's log into its database, so that no client waits for
 * the disk. */
#ifndef HC_DAEMON_LEDGER_WAL_CHECKPOINT_H
#define HC_DAEMON_LEDGER_WAL_CHECKPOINT_H

/* Runs until the parent ends the process, or a step fails, which is logged. Never returns. */
_Noreturn void hc_wal_checkpoint_main(void);

/* Copies the rest of the log at the daemon's end, when no other process has the ledger open, and exits: only
 * the database's file remains. Never returns. */
_Noreturn void hc_wal_checkpoint_last(void);

#endif
