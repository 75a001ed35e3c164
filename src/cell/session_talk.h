/* session_talk.h - serve one session over lines of JSON: requests come in, answers go out
 * (hotcell-session(1)). */
#ifndef HC_CELL_SESSION_TALK_H
#define HC_CELL_SESSION_TALK_H

#include "cell/session.h"
#include "policy/tighten.h"

#define HC_TALK_REQUEST ((size_t)80 << 20) /* most bytes of requests that wait to be served */

/* All pointers and descriptors are borrowed. */
struct hc_session_talk {
    const struct hc_job *job; /* down to cancel_has_reason: as in struct hc_session_given */
    const struct hc_policy *policy;
    const char *default_dir;
    bool else_temporary;
    struct hc_parked *parked;
    struct hc_share share;
    bool shared;
    const struct hc_volume *volumes;
    int cancel_fd, tool_fd;
    bool cancel_has_reason;
    int in_fd, out_fd; /* requests come from in_fd, at whose end of file the session ends; answers go to
                          out_fd. May be equal */
    const void *key;   /* signs manifests; NULL: they are not signed */
    size_t key_len;    /* bytes of `key` */
    int64_t max_text;  /* limit of a run's texts in bytes (hc_job_check_texts); 0: none */
    const struct hc_ceiling *ceiling; /* highest limits that a run may ask for; NULL: none */
};

/* Serve the session to its end. Returns its exit status; -1: it could not be started, or hotcell failed. */
int hc_session_talk(const struct hc_session_talk *t, struct hc_error *err);

#endif
