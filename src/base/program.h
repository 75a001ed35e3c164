/* program.h - what each of our programs sees to before and after everything else: standard descriptors and a
 * stack. */
#ifndef HC_BASE_PROGRAM_H
#define HC_BASE_PROGRAM_H

/* Nothing that is opened later becomes standard input, output or error, and the stack may grow as far as we
 * need. HC_EXIT_OK, or the status to end with: what is wrong has been said. */
int hc_program_begin(void);

/* Standard output is complete, or that it is not is said. The status to end with: output that could not be
 * written is a failure, however well the rest went. */
int hc_program_end(int status);

#endif
