#include "support/threads.h"

#include <errno.h>
#include <pthread.h>

typedef void *thread_function(void *);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          thread_function *function, void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          thread_function *function, void *argument);

bool without_threads;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          thread_function *function, void *argument)
{
    return without_threads ? EAGAIN : __real_pthread_create(thread, attributes, function, argument);
}
