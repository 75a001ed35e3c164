/* tree.h - the actions of "hotcell tree" that have a file of their own. Like commands they get the action's
 * name as argv[0], and return the exit status. */
#ifndef HC_CLI_TREE_H
#define HC_CLI_TREE_H

int hc_tree_build(int argc, char **argv);
int hc_tree_update(int argc, char **argv);
int hc_tree_extend(int argc, char **argv);
int hc_tree_show(int argc, char **argv);
int hc_tree_diff(int argc, char **argv);
int hc_tree_outdated(int argc, char **argv);
int hc_tree_sbom(int argc, char **argv);

#endif
