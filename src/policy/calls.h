/* calls.h - tables of system calls: which are allowed, for which arguments, which are refused and why.
 *
 * These are tables without code: cell/seccomp/filter.c makes filters of them and says what was refused;
 * "hotcell policy explain" prints them. Each row is one decision and has its reason. */
#ifndef HC_POLICY_CALLS_H
#define HC_POLICY_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* Which filters and policies a row belongs to. */
enum hc_call_when {
    HC_IN_JOB = 1 << 0,       /* allowed to guest code under every policy */
    HC_IN_FIRST = 1 << 1,     /* allowed only until the job's filter is on */
    HC_WITH_FORK = 1 << 2,    /* the policy has processes: "fork" */
    HC_WITH_SOCKETS = 1 << 3, /* the policy has network: "loopback" */
    HC_NO_FORK = 1 << 4,      /* the policy has processes: "none", and the shim has made its processes */
    HC_COUNTED = 1 << 5,      /* a cgroup counts the cell's memory */
    HC_UNCOUNTED = 1 << 6,    /* no cgroup counts that memory, so the launcher's watch must see it in /proc */
    HC_NO_NEW_CODE = 1 << 7,  /* the policy has syscalls.executable_memory: "files" */
    HC_OPTIONAL_COUNTED = 1 << 10, /* as HC_OPTIONAL, where a cgroup counts the cell's memory */
    HC_WITH_COMMANDS = 1 << 11,    /* the policy has programs in commands.allow */
    HC_IN_SESSION = 1 << 9,        /* the cell of a session: copies of its interpreter wait beside it */
    HC_OPTIONAL = 1 << 8,          /* a set that a policy may allow: syscalls.allow */
};
#define HC_ANY_OPTIONAL (HC_OPTIONAL | HC_OPTIONAL_COUNTED) /* a set that a policy may allow on some host */

/* A set of calls that are allowed whatever their arguments are. A call that no table has fails with ENOSYS,
 * which libc and libraries are written to survive. A name that an architecture does not have is passed over.
 */
struct hc_call_set {
    const char *name;  /* name of the set, as "syscalls" of a policy and `policy explain` have it */
    unsigned when;     /* enum hc_call_when */
    const char *why;   /* the reason, a sentence */
    const char *calls; /* names of the calls, separated by blanks */
};
extern const struct hc_call_set hc_call_sets[];
extern const size_t hc_call_sets_count;

/* Calls that fail with another errno than ENOSYS, because programs understand it better. Rows of the other
 * tables go first. */
struct hc_call_refusal {
    const char *calls; /* names of the calls, separated by blanks */
    int error;         /* errno that they fail with */
    const char *why;   /* the reason, a phrase */
};
extern const struct hc_call_refusal hc_call_refusals[];
extern const size_t hc_call_refusals_count;

#define HC_WORD_MASK 0xffffffffULL /* the kernel looks at 32 bits of an int; so must the comparison */

/* Calls that the interpreter and the harness in it need: no policy can deny them. */
struct hc_call_need {
    const char *calls; /* names of the calls, separated by blanks */
    const char *why;   /* what needs them, a phrase */
};
extern const struct hc_call_need hc_call_needs[];
extern const size_t hc_call_needs_count;

#define HC_CALL_COMPARISONS 3 /* most comparisons of one row */

/* Calls decided by their arguments: allowed (`error` 0), or refused with `error`; what matches no row gets
 * ENOSYS, as libseccomp has no "otherwise". `mask` 0 ends the comparisons of a row, which must all hold. */
struct hc_call_rule {
    const char *call; /* name of the call */
    unsigned when;    /* enum hc_call_when */
    struct {
        unsigned arg;         /* number of the argument, from 0 */
        uint64_t mask, value; /* the comparison holds if (argument & mask) == value */
    } cmp[HC_CALL_COMPARISONS];
    const char *why;   /* the reason, a phrase */
    int error;         /* errno that the call fails with; 0: it is allowed */
    const char *which; /* the arguments that the row is for, in words; NULL: any */
    const char *hint;  /* the launcher hears of a refusal, and gives this hint; NULL: hc_calls_told decides */
};
extern const struct hc_call_rule hc_call_rules[];
extern const size_t hc_call_rules_count;

/* The flags with which the first process of a zygote's cell is cloned (shim/birth.c): into all new namespaces
 * but that of the network, in which it is already, and those of time and cgroup, which it makes itself. It
 * runs in the zygote's memory until it executes its program, and is the zygote's child. */
#define HC_ZYGOTE_CLONE                                                                                      \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_VM | CLONE_VFORK |     \
     CLONE_PARENT | SIGCHLD)

/* The flags with which a zygote makes the user namespace that owns its cells' networks. */
#define HC_OWNER_CLONE (CLONE_NEWUSER | CLONE_VM | SIGCHLD)

/* The flags with which a session's interpreter and a zygote clone a process that makes another one and ends:
 * it works in their memory, as only what it makes needs one of its own. */
#define HC_BETWEEN_CLONE (CLONE_VM | CLONE_VFORK | SIGCHLD)

/* Further rows of a zygote's filter (zygote_calls.c): each allows a call; `when` is not used. */
extern const struct hc_call_rule hc_zygote_rules[];
extern const size_t hc_zygote_rules_count;

/* Calls whose refusal, by any table, is reported to the launcher, so that the manifest lists it. */
struct hc_calls_told {
    const char *calls; /* names of the calls, separated by blanks */
    const char *hint;  /* what to do instead */
};
extern const struct hc_calls_told hc_calls_told[];
extern const size_t hc_calls_told_count;

/* A word for an argument of a refused call, by which a reader knows the call. */
struct hc_call_word {
    const char *call;     /* name of the call */
    unsigned arg;         /* number of the argument, from 0 */
    uint64_t mask, value; /* the word is used if (argument & mask) == value */
    const char *name;     /* the word */
};
extern const struct hc_call_word hc_call_words[];
extern const size_t hc_call_words_count;

#endif
