/* workspace.h - private to the command "hotcell workspace": print how a file was changed. */
#ifndef HC_CLI_WORKSPACE_H
#define HC_CLI_WORKSPACE_H

/* Print the differences of two files in the form of diff(1) -u, safe for a terminal. `old_fd`, `new_fd`: the
 * files, borrowed; -1: there is no such file. `path`: name of the file in the patch's head, any bytes. */
void hc_workspace_print_patch(int old_fd, int new_fd, const char *path);

#endif
