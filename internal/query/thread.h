// One thread with a stack of a chosen size; thread.go has the reason.
#ifndef DITHER_QUERY_THREAD_H
#define DITHER_QUERY_THREAD_H

#include <stddef.h>

// ditherParserThread starts a thread that runs queryParserLoop. It returns 0, or an errno.
int ditherParserThread(size_t stack);

#endif
