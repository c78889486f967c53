/* Work that is about to block says so: its caller lets go of what others need, which is Python's GIL. */
#ifndef DML_BASE_BLOCKING_H
#define DML_BASE_BLOCKING_H

/* `hook` is what dml_about_to_block calls, on the same thread. Before any work. */
void dml_blocking_init(void (*hook)(void));

/* Before whatever may take more than some 10 us: a wait for the device, for memory or for another thread, or long work. The
 * first time in a call no lock is held. */
void dml_about_to_block(void);

#endif
