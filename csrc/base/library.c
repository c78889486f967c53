#define _GNU_SOURCE /* RTLD_DEEPBIND, dladdr1 */
#include "base/library.h"

#include <stdio.h>
#include <stdlib.h> /* __GLIBC__ */

#ifdef _WIN32
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <string.h>
#include <wchar.h>
#include <windows.h>

/* In front of a path beyond MAX_PATH characters, and of one that begins with a server. */
#define EXTENDED L"\\\\?\\"
#define EXTENDED_SERVER L"\\\\?\\UNC"
enum { EXTENSION = sizeof EXTENDED_SERVER / sizeof(wchar_t) };

static bool is_path(const char *name)
{
    return strpbrk(name, "/\\");
}

/* A path becomes a whole one, as the search for dependencies in its folder needs it. False if `name` is not UTF-8, or too long.
 * `wide` has room for DML_PATH characters. */
static bool widen(const char *name, wchar_t *wide)
{
    wchar_t given[DML_PATH], *begin = wide + EXTENSION;
    if (!is_path(name))
        return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, wide, DML_PATH);
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, name, -1, given, DML_PATH))
        return false;
    DWORD length = GetFullPathNameW(given, DML_PATH - EXTENSION, begin, NULL);
    if (length == 0 || length >= DML_PATH - EXTENSION)
        return false;
    bool server = begin[0] == L'\\', extended = server && (begin[2] == L'?' || begin[2] == L'.');
    const wchar_t *extension = server ? EXTENDED_SERVER : EXTENDED;
    if (length < MAX_PATH || extended)
        extension = L"";
    else if (server)
        begin++, length--;
    wcscpy(wide, extension);
    memmove(wide + wcslen(extension), begin, (length + 1) * sizeof *wide);
    return true;
}

/* Looks where Python looks for the libraries of extension modules: beside a path's library, where the interpreter is and where
 * Windows is. LoadLibrary would also look into the current folder and PATH, where anybody's file may lie. */
void *dml_library_open(const char *name, bool apart, char *reason, size_t size)
{
    (void)apart; /* every library has symbols of its own */
    wchar_t wide[DML_PATH];
    DWORD flags = LOAD_LIBRARY_SEARCH_DEFAULT_DIRS | (is_path(name) ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR : 0);
    SetLastError(ERROR_INVALID_NAME);
    HMODULE library = widen(name, wide) ? LoadLibraryExW(wide, NULL, flags) : NULL;
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
    wchar_t wide[DML_PATH];
    DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    bool found = GetModuleHandleExW(flags, (LPCWSTR)(uintptr_t)function, &library);
    DWORD length = found ? GetModuleFileNameW(library, wide, DML_PATH) : 0;
    if (length == 0 || length >= DML_PATH || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, path, (int)size, NULL, NULL))
        *path = '\0';
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
