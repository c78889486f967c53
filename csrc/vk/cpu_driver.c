/* Opening Mesa's CPU driver apart from the LLVM of other libraries.
 *
 * lavapipe (libvulkan_lvp.so) calls libLLVM through the dynamic linker, which prefers the symbols that the process has already.
 * TensorFlow makes those of its own LLVM, of another version, visible to all: lavapipe would call into both, and crash. Other
 * CPU drivers, as SwiftShader, contain their compiler.
 */
#define _GNU_SOURCE /* RTLD_DEEPBIND, secure_getenv */
#include "vk/cpu_driver.h"

#include <stdlib.h> /* __GLIBC__ */
#ifdef __GLIBC__
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

/* RTLD_DEEPBIND makes the driver and libLLVM prefer their own dependencies, libc's malloc included. Where another malloc
 * replaces that one (a preloaded jemalloc, a sanitizer), memory from strdup would be freed by the wrong one. Without it the
 * driver is still safe from what is loaded later, since RTLD_NOW binds all symbols at once. */
static int dlopen_flags(void)
{
    return RTLD_NOW | RTLD_LOCAL | (libc_allocates() ? RTLD_DEEPBIND : 0);
}

/* The string that follows "library_path" in a manifest. False if there is none, or one with escapes other than of " \ and /. */
static bool find_library_path(const char *json, char *path, size_t size)
{
    static const char key[] = "\"library_path\"", blanks[] = " \t\r\n";
    const char *at = strstr(json, key);
    if (!at)
        return false;
    at += sizeof key - 1;
    at += strspn(at, blanks);
    if (*at++ != ':')
        return false;
    at += strspn(at, blanks);
    if (*at++ != '"')
        return false;
    size_t length = 0;
    for (; *at != '"' && length < size - 1; at++) {
        if (*at == '\\' && !strchr("\"\\/", at[1]))
            return false;
        at += *at == '\\';
        if (*at == '\0')
            return false;
        path[length++] = *at;
    }
    path[length] = '\0';
    return *at == '"';
}

static void open_if_lavapipe(const char *manifest)
{
    char json[4096], library[PATH_MAX], path[PATH_MAX];
    FILE *file = fopen(manifest, "re");
    if (!file)
        return;
    json[fread(json, 1, sizeof json - 1, file)] = '\0';
    fclose(file);
    if (!find_library_path(json, library, sizeof library))
        return;
    const char *slash = strrchr(library, '/');
    if (strncmp(slash ? slash + 1 : library, "libvulkan_lvp", strlen("libvulkan_lvp")) != 0)
        return;
    /* A relative path begins at the manifest; a bare name is the dynamic linker's to find. */
    const char *name = strrchr(manifest, '/');
    int folder = slash && *library != '/' && name ? (int)(name + 1 - manifest) : 0;
    if (snprintf(path, sizeof path, "%.*s%s", folder, manifest, library) < (int)sizeof path)
        (void)dlopen(path, dlopen_flags());
}

static bool is_manifest(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

/* A manifest, or a folder of manifests. */
static void search(const char *path)
{
    if (is_manifest(path)) {
        open_if_lavapipe(path);
        return;
    }
    DIR *folder = opendir(path);
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        char manifest[PATH_MAX];
        if (is_manifest(entry->d_name) &&
            snprintf(manifest, sizeof manifest, "%s/%s", path, entry->d_name) < (int)sizeof manifest)
            open_if_lavapipe(manifest);
    }
    if (folder)
        closedir(folder);
}

/* Each path of a list separated by colons, with `suffix` behind it. NULL is an empty list. */
static void search_list(const char *list, const char *suffix)
{
    while (list && *list) {
        int length = (int)strcspn(list, ":");
        char path[PATH_MAX];
        if (length > 0 && snprintf(path, sizeof path, "%.*s%s", length, list, suffix) < (int)sizeof path)
            search(path);
        list += length + (list[length] == ':');
    }
}

/* The folders of `variable`; if it is unset or empty, those of `fallback`. */
static void search_folders(const char *variable, const char *fallback, const char *fallback_suffix)
{
    const char *list = secure_getenv(variable);
    bool set = list && *list;
    search_list(set ? list : fallback, set ? "/vulkan/icd.d" : fallback_suffix);
}

/* Where the Vulkan loader looks (LoaderDriverInterface.md, "Driver Discovery on Linux"). */
void dml_cpu_driver_open(void)
{
    const char *files = secure_getenv("VK_DRIVER_FILES");
    if (!files)
        files = secure_getenv("VK_ICD_FILENAMES");
    search_list(files ? files : secure_getenv("VK_ADD_DRIVER_FILES"), "");
    if (files)
        return;
    const char *home = secure_getenv("HOME");
    search_folders("XDG_CONFIG_HOME", home, "/.config/vulkan/icd.d");
    search_folders("XDG_CONFIG_DIRS", "/etc/xdg", "/vulkan/icd.d");
    search_list("/etc", "/vulkan/icd.d");
    search_folders("XDG_DATA_HOME", home, "/.local/share/vulkan/icd.d");
    search_folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share", "/vulkan/icd.d");
}

#else
void dml_cpu_driver_open(void)
{
}
#endif
