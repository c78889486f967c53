/* The memory of the machine. */
#ifndef DML_BASE_MACHINE_MEMORY_H
#define DML_BASE_MACHINE_MEMORY_H

/* In bytes; 0 where the system does not tell. */
typedef struct dml_machine_bytes {
    unsigned long long total, available;
} dml_machine_bytes;

dml_machine_bytes dml_machine_memory(void);

#endif
