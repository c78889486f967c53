/* Sizes of memory, in classes of which there are eight from each power of two to the next: at most an eighth of a block that is
 * as large as its class is there only to round its size up. */
#ifndef DML_BASE_SIZE_CLASS_H
#define DML_BASE_SIZE_CLASS_H

#include <stddef.h>

enum { DML_SIZE_CLASSES = 8 * 8 * (int)sizeof(size_t) };

/* `power_of_two` bytes, or a multiple of them. */
size_t dml_round_up(size_t bytes, size_t power_of_two);

/* The class of `bytes`, from 1 to half of all addresses, and how large the blocks of that class are: pages, each of them
 * `page` bytes, 8 or more. */
int dml_size_class(size_t bytes, size_t page, size_t *capacity);

#endif
