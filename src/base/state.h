/* state.h - paths of hotcell's files on the host. No directory is created here. Each function writes an
 * absolute path into `out`, and returns 0, or -1 if there is no such place. */
#ifndef HC_BASE_STATE_H
#define HC_BASE_STATE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

/* The directory of trees and of the filter cache: $HOTCELL_STATE, else /var/lib/hotcell for root, else
 * $XDG_DATA_HOME/hotcell. */
int hc_state_dir(char out[PATH_MAX], struct hc_error *err);

/* The same directory without regard to $HOTCELL_STATE, which several users may share. */
int hc_state_default_dir(char out[PATH_MAX], struct hc_error *err);

/* Default path of hotcelld's socket: in /run for root, else in $XDG_RUNTIME_DIR, else in the state
 * directory. */
int hc_daemon_socket(char out[PATH_MAX], struct hc_error *err);

/* The directories in which trees are searched for: the user's own state, then root's; only HOTCELL_STATE
 * if it is set. */
struct hc_states {
    size_t count;          /* number of directories in `dir`, 1 or 2 */
    char dir[2][PATH_MAX]; /* absolute paths of the directories, in the order of the search */
};
int hc_state_search(struct hc_states *out, struct hc_error *err);

/* Files that ship with hotcell, found from the place of the running binary: "policies" or "rootfs" in an
 * installation (PREFIX/share/hotcell) or in a source tree (beside build/). */
int hc_data_dir(const char *kind, char out[PATH_MAX], struct hc_error *err);

/* A program of hotcell's that users do not start themselves: PREFIX/libexec/hotcell, or beside the binary
 * in a build folder. */
int hc_program_path(const char *name, char out[PATH_MAX], struct hc_error *err);

/* The shim that embeds the Python `abi`, such as "3.12": hotcell-shim-ABI, else, for the Python that this
 * hotcell was built with (HC_PYTHON_ABI), hotcell-shim. HC_EXIT_UNAVAILABLE if there is none; the error says
 * what installs it. */
int hc_shim_path(const char *abi, char out[PATH_MAX], struct hc_error *err);

/* The versions of Python that hotcell knows, "3.11" first; NULL after the last. */
extern const char *const hc_python_abis[];

#endif
