#include "base/usable_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"

#ifdef _WIN32
bool dml_usable_memory_play(const char *folder)
{
    return !folder;
}

dml_usable_memory dml_usable_memory_now(void)
{
    return (dml_usable_memory){dml_machine_memory(), dml_machine_memory_available()};
}
#else
#include <sys/resource.h>
#include <unistd.h>

enum { PATH = 4096 + 512, LINE = 4096 };

#define NO_LIMIT (UINT64_C(1) << 62) /* and above: what control groups of version 1 have where none is set */

static char root[256]; /* "" but in tests */

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* --- control groups ------------------------------------------------------------------------------------------------ */

typedef struct version {
    const char *folder, *limit, *usage, *reclaimable; /* that of memory.stat which the system takes back first */
} version;

static const version versions[] = {
    {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
    {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
};

/* The number behind `key` at the beginning of a line, or that of the first line; `otherwise` if there is none. */
static uint64_t read_number(const version *version, const char *group, const char *name, const char *key, uint64_t otherwise)
{
    char path[PATH], line[LINE], *end;
    uint64_t number = otherwise;
    snprintf(path, sizeof path, "%s%s%s/%s", root, version->folder, group, name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        const uint64_t found = strtoull(line + strlen(key), &end, 10);
        number = end > line + strlen(key) ? found : otherwise; /* "max" is none */
        break;
    }
    if (file)
        fclose(file);
    return number;
}

/* Of a group and of those that it is in. In a container its path may be one that only the host has: what is not there is
 * passed over, and the container's own group is found at the end, as the root. */
static void look_at_groups(const version *version, char *group, dml_usable_memory *memory)
{
    while (true) {
        char *last = strrchr(group, '/');
        if (last && last[1] == '\0')
            *last = '\0';
        const uint64_t limit = read_number(version, group, version->limit, "", UINT64_MAX);
        if (limit < NO_LIMIT) {
            const uint64_t usage = read_number(version, group, version->usage, "", 0);
            const uint64_t reclaimable = least(usage, read_number(version, group, "memory.stat", version->reclaimable, 0));
            const uint64_t used = usage - reclaimable;
            memory->limit = least(memory->limit, limit);
            memory->left = least(memory->left, limit > used ? limit - used : 0);
        }
        if (*group == '\0')
            return;
        *strrchr(group, '/') = '\0';
    }
}

/* A line is "number:controllers:path", of version 2 without controllers. */
static bool has_memory(const char *controllers)
{
    for (const char *at = controllers; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, "memory", 6) == 0 && (at[6] == ',' || at[6] == '\0'))
            return true;
    }
    return false;
}

static void look_at_all_groups(dml_usable_memory *memory)
{
    char path[PATH], line[LINE];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group || group[1] != '/')
            continue;
        *group++ = '\0';
        if (has_memory(++controllers))
            look_at_groups(&versions[0], group, memory);
        else if (*controllers == '\0')
            look_at_groups(&versions[1], group, memory);
    }
    if (file)
        fclose(file);
}

bool dml_usable_memory_play(const char *folder)
{
    if (folder && strlen(folder) >= sizeof root)
        return false;
    snprintf(root, sizeof root, "%s", folder ? folder : "");
    return true;
}

/* --- the process --------------------------------------------------------------------------------------------------- */

static void look_at_addresses(dml_usable_memory *memory)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return;
    unsigned long long pages = 0;
    char line[LINE];
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fgets(line, sizeof line, file))
        pages = strtoull(line, NULL, 10);
    if (file)
        fclose(file);
    const uint64_t mapped = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    memory->limit = least(memory->limit, limit.rlim_cur);
    memory->left = least(memory->left, limit.rlim_cur > mapped ? limit.rlim_cur - mapped : 0);
}

dml_usable_memory dml_usable_memory_now(void)
{
    const unsigned long long all = dml_machine_memory(), left = dml_machine_memory_available();
    dml_usable_memory memory = {all ? all : UINT64_MAX, left ? left : UINT64_MAX};
    look_at_all_groups(&memory);
    look_at_addresses(&memory);
    return (dml_usable_memory){memory.limit < NO_LIMIT ? memory.limit : 0, memory.left < NO_LIMIT ? memory.left : 0};
}
#endif
