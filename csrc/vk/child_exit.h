/* How a forked child that leaves by exit() avoids the exit handlers of its parent's drivers. */
#ifndef DML_VK_CHILD_EXIT_H
#define DML_VK_CHILD_EXIT_H

/* Keeps a forked child from all exit handlers registered so far. Call after a driver may have registered one. */
void dml_child_exit_watch(void);

#endif
