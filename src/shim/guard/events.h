/* events.h - the audit events of CPython, and what is done about each. */
#ifndef HC_SHIM_GUARD_EVENTS_H
#define HC_SHIM_GUARD_EVENTS_H

enum hc_event_kind {
    HC_EVENT_FREE,      /* no effect, or one that a rule elsewhere sees to */
    HC_EVENT_REFUSED,   /* for everyone */
    HC_EVENT_GUEST,     /* refused where the program itself asks; libraries may */
    HC_EVENT_NETWORK,   /* for those with a policy that has a network */
    HC_EVENT_PROCESS,   /* for those with a policy that has processes */
    HC_EVENT_WRITES,    /* its first argument is a file that is changed */
    HC_EVENT_WRITES_AT, /* the same; its last argument may be the descriptor of a directory */
    HC_EVENT_NAMES,     /* the same, but a link itself is changed, not what it leads to */
    HC_EVENT_TO,        /* its second argument is a file that is changed */
    HC_EVENT_BOTH,      /* both are names that are changed; the third and fourth may be descriptors */
    HC_EVENT_LINK,      /* os.symlink: the same, and the first is seen from where the second is */
    HC_EVENT_OPEN,
    HC_EVENT_DATABASE, /* sqlite3.connect */
    HC_EVENT_SOCKET,   /* socket.__new__ */
    HC_EVENT_IMPORT,
    HC_EVENT_COMPILE,
    HC_EVENT_CODE,      /* code.__new__, marshal: whose it is, origin.h settles */
    HC_EVENT_ATTRIBUTE, /* object.__getattr__ and its kin */
    HC_EVENT_PICKLE,    /* pickle.find_class */
    HC_EVENT_ENV,
    HC_EVENT_THREAD,
    HC_EVENT_FOREIGN, /* ctypes: libraries use it, a program that reaches it through ctypes' own files may not
                       */
};

/* For an event that is not in the table: HC_EVENT_REFUSED. */
enum hc_event_kind hc_event_kind(const char *event);

/* Called once; later calls do nothing. */
void hc_events_prepare(void);

#endif
