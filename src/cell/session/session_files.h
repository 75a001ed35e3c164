/* session_files.h - between the runs of a session, write, read, list and remove files in its /output for its
 * client.
 *
 * All processes of the cell are stopped then, but the names, links, modes and sizes in /output are the
 * guest's. So each path is resolved by the kernel below the root of /output, without links (openat2); a
 * file's kind is looked at by a descriptor that opens nothing (O_PATH), and it is that inode which is opened.
 * What is written to is a file that the launcher has just made, or one that is a plain file with one name. */
#ifndef HC_CELL_SESSION_SESSION_FILES_H
#define HC_CELL_SESSION_SESSION_FILES_H

#include "cell/session.h"
#include "job/job.h"

/* Serve the request {NAME: node} about files, which has one of the names write_file, read_file, list_files,
 * stat_file, remove_file, make_directory, move_file. Appends the members of its answer, each with a comma
 * before it, to `answer`. 0; 1: it was refused, and changed nothing (`err`); -1: hotcell failed. */
int hc_session_serve_files(struct hc_session *s, const cJSON *node, struct hc_buf *answer,
                           struct hc_error *err);

/* Put the inputs of a run into /output under their own names, as far as the names are possible there and
 * there is room. `given` gets the JSON of job->given, in which each input that was put has a further member
 * "path"; it is empty if no input was put. */
int hc_session_place_inputs(struct hc_session *s, const struct hc_job *job, struct hc_buf *given,
                            struct hc_error *err);

#endif
