/* program.h - the first and last steps of each of hotcell's programs: standard descriptors and stack. */
#ifndef HC_BASE_PROGRAM_H
#define HC_BASE_PROGRAM_H

/* Make sure that no file opened later becomes standard input, output or error, and that the stack may grow
 * as far as needed. Returns HC_EXIT_OK, or, with a warning, the status to end with. */
int hc_program_begin(void);

/* Close standard output, and warn if it could not be written. Returns the status to end with: unwritten
 * output turns a success into a failure. */
int hc_program_end(int status);

#endif
