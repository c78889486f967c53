#define _GNU_SOURCE /* secure_getenv */
#include "vk/manifests.h"

#ifndef _WIN32
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"

#ifndef __linux__
#define secure_getenv getenv
#endif

/* Whom to call. */
typedef struct search {
    dml_manifest_visit *visit;
    void *argument;
} search;

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

/* A relative path begins at the manifest; a bare name is the dynamic linker's to find. */
static void visit_manifest(const char *manifest, const search *to)
{
    char json[4096], named[DML_PATH], path[DML_PATH] = "";
    FILE *file = fopen(manifest, "re");
    if (!file)
        return;
    json[fread(json, 1, sizeof json - 1, file)] = '\0';
    fclose(file);
    if (find_library_path(json, named, sizeof named)) {
        const char *name = strrchr(manifest, '/');
        int folder = strchr(named, '/') && *named != '/' && name ? (int)(name + 1 - manifest) : 0;
        if (snprintf(path, sizeof path, "%.*s%s", folder, manifest, named) >= (int)sizeof path)
            *path = '\0'; /* uncovered: a path longer than the system takes */
    }
    to->visit(manifest, path, to->argument);
}

static bool is_manifest(const char *name)
{
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".json") == 0;
}

static void visit_path(const char *path, const search *to)
{
    if (is_manifest(path)) {
        visit_manifest(path, to);
        return;
    }
    DIR *folder = opendir(path);
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
        char manifest[DML_PATH];
        if (is_manifest(entry->d_name) &&
            snprintf(manifest, sizeof manifest, "%s/%s", path, entry->d_name) < (int)sizeof manifest)
            visit_manifest(manifest, to);
    }
    if (folder)
        closedir(folder);
}

/* Each path of a list separated by colons, with `suffix` behind it. NULL is an empty list. */
static void visit_list(const char *list, const char *suffix, const search *to)
{
    while (list && *list) {
        int length = (int)strcspn(list, ":");
        char path[DML_PATH];
        if (length > 0 && snprintf(path, sizeof path, "%.*s%s", length, list, suffix) < (int)sizeof path)
            visit_path(path, to);
        list += length + (list[length] == ':');
    }
}

/* The folders of `variable`; if it is unset or empty, those of `fallback`. */
static void visit_folders(const char *variable, const char *fallback, const char *fallback_suffix, const search *to)
{
    const char *list = secure_getenv(variable);
    bool set = list && *list;
    visit_list(set ? list : fallback, set ? "/vulkan/icd.d" : fallback_suffix, to);
}

void dml_manifests_visit_path(const char *path, dml_manifest_visit *visit, void *argument)
{
    visit_path(path, &(search){visit, argument});
}

/* LoaderDriverInterface.md, "Driver Discovery on Linux". */
void dml_manifests_visit(dml_manifest_visit *visit, void *argument)
{
    const search to = {visit, argument};
    const char *files = secure_getenv("VK_DRIVER_FILES");
    if (!files)
        files = secure_getenv("VK_ICD_FILENAMES");
    visit_list(files ? files : secure_getenv("VK_ADD_DRIVER_FILES"), "", &to);
    if (files)
        return;
    const char *home = secure_getenv("HOME");
    visit_folders("XDG_CONFIG_HOME", home, "/.config/vulkan/icd.d", &to);
    visit_folders("XDG_CONFIG_DIRS", "/etc/xdg", "/vulkan/icd.d", &to);
    visit_list("/etc", "/vulkan/icd.d", &to);
    visit_folders("XDG_DATA_HOME", home, "/.local/share/vulkan/icd.d", &to);
    visit_folders("XDG_DATA_DIRS", "/usr/local/share:/usr/share", "/vulkan/icd.d", &to);
}

#else
void dml_manifests_visit_path(const char *path, dml_manifest_visit *visit, void *argument)
{
    (void)path, (void)visit, (void)argument;
}

void dml_manifests_visit(dml_manifest_visit *visit, void *argument)
{
    (void)visit, (void)argument;
}
#endif
