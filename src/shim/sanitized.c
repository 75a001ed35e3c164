/* Options of the sanitizers, in builds with them: a cell has no environment variables that could set them. */
#ifdef __SANITIZE_ADDRESS__

/* Called by the sanitizer before main. Leaks are not reported, as CPython frees little of its memory at its
 * end; signals are not handled, as tests check how the kernel ends a guest. The name is the sanitizer's.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_segv=0:handle_abort=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0";
}
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
