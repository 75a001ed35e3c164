/* session_talk.h - a session for a client who speaks lines of JSON: requests one way, answers the other
 * (hotcell-session(1)). */
#ifndef HC_CELL_SESSION_TALK_H
#define HC_CELL_SESSION_TALK_H

#include "cell/session.h"
#include "policy/tighten.h"

#define HC_TALK_REQUEST ((size_t)80 << 20) /* bytes that may wait to be served */

/* All is borrowed. */
struct hc_talk {
    const struct hc_job *job; /* as of struct hc_session_given, all of these */
    const struct hc_policy *policy;
    const char *default_dir;
    struct hc_parked *parked;
    struct hc_share share;
    bool shared;
    int cancel_fd, tool_fd;
    bool cancel_says;
    int in_fd, out_fd; /* requests, of which the end is that of the session; answers. May be the same */
    const void *key;   /* manifests are signed with it; NULL: they are not */
    size_t key_len;
    int64_t max_text;                 /* see hc_job_check_texts, of a run; 0: whatever it asks for */
    const struct hc_ceiling *ceiling; /* of what a run may ask for; NULL: none */
};

/* The whole of a session. Returns the exit status; -1: it could not be begun, or has failed. */
int hc_session_talk(const struct hc_talk *t, struct hc_error *err);

#endif
