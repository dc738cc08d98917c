// One thread with a stack of a size we choose. See thread.go.
#ifndef DITHER_QUERY_THREAD_H
#define DITHER_QUERY_THREAD_H

#include <stddef.h>

// ditherParserThread starts the thread and returns 0, or an errno. On that thread queryParserLoop runs, for ever.
int ditherParserThread(size_t stack);

#endif
