#include "shim/openmp.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#define MAX_COPIES     4 /* most copies of libgomp: wheels bring their own */
#define OMP_PAUSE_HARD 2 /* omp_pause_hard, of omp.h */

/* The copies of libgomp that this process has loaded. */
struct found {
    char paths[MAX_COPIES][512]; /* paths of the libraries' files */
    size_t count;                /* used entries of `paths` */
};

static int add_if_libgomp(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct found *f = ctx;
    (void)size;
    const char *name = strrchr(info->dlpi_name, '/');
    if (name && strncmp(name, "/libgomp", 8) == 0 && strlen(info->dlpi_name) < sizeof f->paths[0])
        (void)snprintf(f->paths[f->count++], sizeof f->paths[0], "%s", info->dlpi_name);
    return f->count == MAX_COPIES;
}

void hc_openmp_pause(void)
{
    struct found f = {0};
    (void)dl_iterate_phdr(add_if_libgomp, &f);
    for (size_t i = 0; i < f.count; i++) {
        void *library = dlopen(f.paths[i], RTLD_LAZY | RTLD_NOLOAD);
        void *symbol = library ? dlsym(library, "omp_pause_resource_all") : NULL;
        int (*pause_all)(int);
        memcpy(&pause_all, &symbol, sizeof pause_all);
        if (pause_all)
            (void)pause_all(OMP_PAUSE_HARD);
        if (library)
            (void)dlclose(library);
    }
}
