/* The library's own allocations, made to fail and counted: its table of imported functions is changed in place, so that
 * nobody else's are. */
#define _GNU_SOURCE
#include "layer.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void (*free)(void *);
    void *(*PyMem_Malloc)(size_t);
    void *(*PyMem_Calloc)(size_t, size_t);
    void (*PyMem_Free)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*madvise)(void *, size_t, int);
} real;

static void *count(const char *what, void *data)
{
    if (data)
        live_add(what, 1);
    return data;
}

static void *our_malloc(size_t size)
{
    return fault_fires("memory", "malloc", false) ? NULL : count("malloc", real.malloc(size));
}

static void *our_calloc(size_t number, size_t size)
{
    return fault_fires("memory", "calloc", false) ? NULL : count("malloc", real.calloc(number, size));
}

static void our_free(void *data)
{
    if (data)
        live_add("malloc", -1);
    real.free(data);
}

static void *our_PyMem_Malloc(size_t size)
{
    return fault_fires("memory", "PyMem_Malloc", false) ? NULL : count("PyMem_Malloc", real.PyMem_Malloc(size));
}

static void *our_PyMem_Calloc(size_t number, size_t size)
{
    return fault_fires("memory", "PyMem_Calloc", false) ? NULL : count("PyMem_Malloc", real.PyMem_Calloc(number, size));
}

static void our_PyMem_Free(void *data)
{
    if (data)
        live_add("PyMem_Malloc", -1);
    real.PyMem_Free(data);
}

static void *our_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    if (!fault_fires("memory", "mmap", false))
        return real.mmap(address, size, protection, flags, file, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

static int our_madvise(void *pages, size_t size, int advice)
{
    if (!fault_fires("memory", "madvise", false))
        return real.madvise(pages, size, advice);
    errno = ENOMEM;
    return -1;
}

static const struct {
    const char *name;
    void *ours;
    void **real;
} functions[] = {{"malloc", our_malloc, (void **)&real.malloc},
                 {"calloc", our_calloc, (void **)&real.calloc},
                 {"free", our_free, (void **)&real.free},
                 {"PyMem_Malloc", our_PyMem_Malloc, (void **)&real.PyMem_Malloc},
                 {"PyMem_Calloc", our_PyMem_Calloc, (void **)&real.PyMem_Calloc},
                 {"PyMem_Free", our_PyMem_Free, (void **)&real.PyMem_Free},
                 {"mmap", our_mmap, (void **)&real.mmap},
                 {"madvise", our_madvise, (void **)&real.madvise}};

enum { FUNCTIONS = sizeof functions / sizeof functions[0] };

static void replace(void **place, void *with)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)place & ~(uintptr_t)(page - 1));
    mprotect(start, 2 * page, PROT_READ | PROT_WRITE); /* the linker made it read-only */
    *place = with;
}

/* Relocations that name one of the functions, whatever their type: each has one address to fill in. */
static int replace_in(uintptr_t base, const ElfW(Rela) *relocation, size_t bytes, const ElfW(Sym) *symbols,
                      const char *names)
{
    int replaced = 0;
    for (; relocation && bytes; bytes -= sizeof *relocation, relocation++) {
        const char *name = names + symbols[ELF64_R_SYM(relocation->r_info)].st_name;
        for (int i = 0; i < FUNCTIONS; i++)
            if (strcmp(name, functions[i].name) == 0) {
                replace((void **)(base + relocation->r_offset), functions[i].ours);
                replaced++;
            }
    }
    return replaced;
}

static int replace_imports(struct dl_phdr_info *object, size_t size, void *wanted)
{
    (void)size;
    if (!strstr(object->dlpi_name, wanted))
        return 0;
    ElfW(Addr) value[64] = {0};
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            for (ElfW(Dyn) *entry = (void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr); entry->d_tag; entry++)
                if (entry->d_tag < 64)
                    value[entry->d_tag] = entry->d_un.d_ptr;
    const ElfW(Sym) *symbols = (void *)value[DT_SYMTAB];
    const char *names = (void *)value[DT_STRTAB];
    return replace_in(object->dlpi_addr, (void *)value[DT_RELA], value[DT_RELASZ], symbols, names) +
           replace_in(object->dlpi_addr, (void *)value[DT_JMPREL], value[DT_PLTRELSZ], symbols, names);
}

/* `library` is part of the name of one that is loaded; returns how many places were changed. */
EXPORT int faults_watch_allocations(const char *library)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        *functions[i].real = dlsym(RTLD_DEFAULT, functions[i].name);
        if (!*functions[i].real)
            return 0;
    }
    return dl_iterate_phdr(replace_imports, (void *)library);
}
