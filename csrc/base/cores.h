/* The processor cores that the system runs threads on; 1 where it does not tell. */
#ifndef DML_BASE_CORES_H
#define DML_BASE_CORES_H

int dml_machine_cores(void);

#endif
