/* events.h - classifies the audit events of CPython by the check that each needs. */
#ifndef HC_SHIM_GUARD_EVENTS_H
#define HC_SHIM_GUARD_EVENTS_H

enum hc_event_kind {
    HC_EVENT_FREE,      /* allowed: no effect, or another rule checks it */
    HC_EVENT_REFUSED,   /* refused to all code */
    HC_EVENT_GUEST,     /* refused to the program, allowed to libraries */
    HC_EVENT_TRACE,     /* as GUEST, but refused to the program through threading, too */
    HC_EVENT_NETWORK,   /* allowed if the policy has a network */
    HC_EVENT_PROCESS,   /* allowed if the policy has processes */
    HC_EVENT_WRITES,    /* changes the file that its first argument names: allowed in the policy's zones */
    HC_EVENT_WRITES_AT, /* as WRITES; its last argument may be the descriptor of a directory */
    HC_EVENT_NAMES,     /* as WRITES_AT, but of a link it changes the link itself, not its target */
    HC_EVENT_TO,        /* changes the file that its second argument names */
    HC_EVENT_BOTH,  /* changes the names that its first two arguments are; the next two may be descriptors of
                       their directories */
    HC_EVENT_LINK,  /* os.symlink(target, link, dir): the target is relative to the link */
    HC_EVENT_OPEN,  /* open: the zones of the policy's "files" decide */
    HC_EVENT_CHDIR, /* os.chdir */
    HC_EVENT_DATABASE,  /* sqlite3.connect */
    HC_EVENT_SOCKET,    /* socket.__new__ */
    HC_EVENT_IMPORT,    /* import */
    HC_EVENT_COMPILE,   /* compile */
    HC_EVENT_CODE,      /* code.__new__: origin.h settles the file name */
    HC_EVENT_LOAD_CODE, /* marshal, likewise; refused to the program through libraries that serve it, too */
    HC_EVENT_ATTRIBUTE, /* object.__getattr__ and the like */
    HC_EVENT_PICKLE,    /* pickle.find_class */
    HC_EVENT_ENV,       /* os.putenv, os.unsetenv */
    HC_EVENT_CALL,    /* hotcell.call, the guard's own: a native function that the policy does not declare */
    HC_EVENT_THREAD,  /* _thread.start_new_thread */
    HC_EVENT_FOREIGN, /* ctypes: allowed to libraries, refused to the program, also through ctypes' own files
                       */
};

/* The kind of the event of this name; HC_EVENT_REFUSED for an event that is not in the table. Call
 * hc_events_prepare first. */
enum hc_event_kind hc_event_kind(const char *event);

/* Makes the hash table in which hc_event_kind looks; later calls do nothing. */
void hc_events_prepare(void);

#endif
