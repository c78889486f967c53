#define _GNU_SOURCE /* RTLD_DEEPBIND, dladdr1 */
#include "base/library.h"

#include <stdio.h>
#include <stdlib.h> /* __GLIBC__ */

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>

void *dml_library_open(const char *name, bool apart, char *reason, size_t size)
{
    (void)apart; /* every library has symbols of its own */
    HMODULE library = LoadLibraryA(name);
    if (!library)
        snprintf(reason, size, "%s cannot be loaded: error %lu", name, (unsigned long)GetLastError());
    return (void *)library;
}

dml_function dml_library_function(void *library, const char *name)
{
    return (dml_function)GetProcAddress((HMODULE)library, name);
}

void dml_library_path(dml_function function, char *path, size_t size)
{
    HMODULE library;
    DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    *path = '\0';
    if (GetModuleHandleExA(flags, (LPCSTR)(uintptr_t)function, &library))
        GetModuleFileNameA(library, path, (DWORD)size);
}

#else
#include <dlfcn.h>
#ifdef __GLIBC__
#include <link.h>
#include <stdint.h>

/* Whether calls of malloc reach libc's. The linker takes the first library that defines it. Its address would not tell: in an
 * executable that is not position-independent that is a stub of the executable. */
static bool libc_allocates(void)
{
    Dl_info libc, found;
    const ElfW(Sym) * symbol;
    struct link_map *map;
    void *program = dlopen(NULL, RTLD_LAZY);
    if (!program || !dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &libc) ||
        !dladdr1(dlsym(RTLD_DEFAULT, "malloc"), &found, (void **)&symbol, RTLD_DL_SYMENT) ||
        dlinfo(program, RTLD_DI_LINKMAP, &map) < 0)
        return false;
    bool stub = symbol && symbol->st_shndx == SHN_UNDEF;
    for (; stub && map; map = map->l_next) {
        void *library = *map->l_name ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        void *function = library ? dlsym(library, "malloc") : NULL; /* or that of a library it depends on */
        stub = !function || !dladdr(function, &found) || (uintptr_t)found.dli_fbase != map->l_addr;
        if (library)
            dlclose(library);
    }
    return found.dli_fbase == libc.dli_fbase;
}

/* RTLD_DEEPBIND makes a library prefer its own dependencies, libc's malloc included. Where another malloc replaces that one
 * (a preloaded jemalloc, a sanitizer), memory from strdup would be freed by the wrong one. Without it the library is still
 * safe from what is loaded later, since RTLD_NOW binds all symbols at once. */
static int flags_apart(void)
{
    return libc_allocates() ? RTLD_DEEPBIND : 0;
}
#else
static int flags_apart(void)
{
    return 0;
}
#endif

void *dml_library_open(const char *name, bool apart, char *reason, size_t size)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | (apart ? flags_apart() : 0));
    if (!library) {
        const char *error = dlerror();
        snprintf(reason, size, "%s", error ? error : name);
    }
    return library;
}

dml_function dml_library_function(void *library, const char *name)
{
    return (dml_function)dlsym(library, name);
}

void dml_library_path(dml_function function, char *path, size_t size)
{
    Dl_info info;
    bool found = dladdr((void *)function, &info) && info.dli_fname;
    snprintf(path, size, "%s", found ? info.dli_fname : "");
}
#endif
