/* Only in builds with sanitizers: what they are told in a cell, where nobody sets variables for them. */
#ifdef __SANITIZE_ADDRESS__

/* Called by the sanitizer before main. CPython gives back little at its end, so that leaks cannot be told
 * from what it keeps; and tests look at how the kernel ends a guest. The name is the sanitizer's.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
