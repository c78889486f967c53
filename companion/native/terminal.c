/*
 * Linked in place of libtinfo, which LLVM asks one thing: whether the terminal shows colours. It does not.
 */
#pragma GCC visibility push(hidden)

int setupterm(char *name, int file, int *error)
{
    (void)name, (void)file;
    if (error)
        *error = -1;
    return -1;
}

void *set_curterm(void *terminal)
{
    return terminal;
}

int del_curterm(void *terminal)
{
    (void)terminal;
    return 0;
}

int tigetnum(char *name)
{
    (void)name;
    return -1;
}
