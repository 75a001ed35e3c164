/* drill.h - hotcell doctor --drill: what attacks reach from cells on this host. */
#ifndef HC_CLI_DRILL_H
#define HC_CLI_DRILL_H

struct hc_drill_options {
    const char *policy, *tree, *attack; /* NULL: default, the policy's, all */
    int json, warm;
};

/* Returns the exit status: 0 if everything was held, 69 if not. */
int hc_drill_serve(const struct hc_drill_options *options);

#endif
