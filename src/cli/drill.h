/* drill.h - hotcell doctor --drill: attacks cells on this host from inside. */
#ifndef HC_CLI_DRILL_H
#define HC_CLI_DRILL_H

struct hc_drill_options {
    const char *policy; /* name or path of the policy; NULL: "default" */
    const char *tree;   /* name, ID or path of the tree; NULL: the policy's */
    const char *attack; /* name of the only attack to try; NULL: all attacks */
    int json, warm;     /* print JSON; attack cells that waited for a job */
};

/* Runs the drill and prints its result. Returns the exit status: 0 if every attack failed, 69 if not. */
int hc_drill_serve(const struct hc_drill_options *options);

#endif
