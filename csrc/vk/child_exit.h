/* How a forked child that leaves by exit() gets past the drivers of its parent. */
#ifndef DML_VK_CHILD_EXIT_H
#define DML_VK_CHILD_EXIT_H

/* From now on a child that leaves by exit() ends before the exit handlers of the drivers that are loaded. */
void dml_child_exit_watch(void);

#endif
