/* workspace.h - private to hotcell workspace. */
#ifndef HC_CLI_WORKSPACE_H
#define HC_CLI_WORKSPACE_H

/* Print how two files differ, as diff(1) -u has it, and safe for a terminal. -1 for a file that is not there.
 * Both descriptors stay the caller's. `path`: for the heads, any bytes. */
void hc_workspace_print_patch(int old_fd, int new_fd, const char *path);

#endif
