/* The memory of the machine, in bytes; 0 where the system does not tell. */
#ifndef DML_BASE_MACHINE_MEMORY_H
#define DML_BASE_MACHINE_MEMORY_H

unsigned long long dml_machine_memory(void);

/* What the system could still give. */
unsigned long long dml_machine_memory_available(void);

#endif
