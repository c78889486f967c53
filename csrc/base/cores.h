/* Processor cores; 1 where the system does not tell. */
#ifndef DML_BASE_CORES_H
#define DML_BASE_CORES_H

int dml_machine_cores(void); /* that the system runs threads on */

int dml_usable_cores(void); /* those of them that this thread may run on: asked anew each time */

#endif
