/* state.h - where hotcell keeps things on the host. Paths only; nothing is created but what is asked for. */
#ifndef HC_BASE_STATE_H
#define HC_BASE_STATE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

/* Trees and the filter cache: $HOTCELL_STATE, else /var/lib/hotcell for root, else $XDG_DATA_HOME/hotcell. */
int hc_state_dir(char out[PATH_MAX], struct hc_error *err);

/* Where hotcelld listens and is looked for, unless somebody says otherwise: in /run for root, in
 * $XDG_RUNTIME_DIR, else in the state directory. */
int hc_daemon_socket(char out[PATH_MAX], struct hc_error *err);

/* Where trees are looked for: the user's own state, then root's. HOTCELL_STATE, if it is set, is the only
 * one. */
struct hc_states {
    size_t count;
    char dir[2][PATH_MAX];
};
int hc_state_search(struct hc_states *out, struct hc_error *err);

/* Files that ship with hotcell, found from the place of the running binary: "policies" or "rootfs" in an
 * installation (PREFIX/share/hotcell) or in a source tree (beside build/). */
int hc_data_dir(const char *kind, char out[PATH_MAX], struct hc_error *err);

/* A program of ours that is not for PATH: PREFIX/libexec/hotcell, or beside the binary in a build folder. */
int hc_program_path(const char *name, char out[PATH_MAX], struct hc_error *err);
int hc_shim_path(char out[PATH_MAX], struct hc_error *err);

#endif
