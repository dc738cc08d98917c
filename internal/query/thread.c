#include <pthread.h>

#include "_cgo_export.h"
#include "thread.h"

static void *run(void *unused) {
	(void)unused;
	queryParserLoop();
	return NULL;
}

int ditherParserThread(size_t stack) {
	pthread_attr_t attr;
	pthread_t thread;
	int err = pthread_attr_init(&attr);
	if (err != 0) return err;
	err = pthread_attr_setstacksize(&attr, stack);
	if (err == 0) err = pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (err == 0) err = pthread_create(&thread, &attr, run, NULL);
	pthread_attr_destroy(&attr);
	return err;
}
