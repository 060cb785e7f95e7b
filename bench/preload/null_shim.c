/* SPDX-License-Identifier: MIT */
/*
 * For LD_PRELOAD: the functions that the preload module replaces, each of which only calls the
 * original. What a program loses under it is what interposition itself costs.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/*
 * Older condition variables have the same names and another layout, where there are older ones.
 * None is asked for that is not there: the loader would allocate its message, perhaps by an
 * allocator that is just taking a lock.
 */
#ifdef __x86_64__
#define COND_VERSION "GLIBC_2.3.2"
#else
#define COND_VERSION NULL
#endif

static struct {
	int (*mutex_lock)(pthread_mutex_t *);
	int (*mutex_trylock)(pthread_mutex_t *);
	int (*mutex_unlock)(pthread_mutex_t *);
	int (*mutex_timedlock)(pthread_mutex_t *, const struct timespec *);
	int (*mutex_clocklock)(pthread_mutex_t *, clockid_t, const struct timespec *);
	int (*cond_init)(pthread_cond_t *, const pthread_condattr_t *);
	int (*cond_destroy)(pthread_cond_t *);
	int (*cond_wait)(pthread_cond_t *, pthread_mutex_t *);
	int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
	int (*cond_clockwait)(pthread_cond_t *, pthread_mutex_t *, clockid_t,
			      const struct timespec *);
	int (*cond_signal)(pthread_cond_t *);
	int (*cond_broadcast)(pthread_cond_t *);
	int (*rwlock_rdlock)(pthread_rwlock_t *);
	int (*rwlock_wrlock)(pthread_rwlock_t *);
	int (*rwlock_tryrdlock)(pthread_rwlock_t *);
	int (*rwlock_trywrlock)(pthread_rwlock_t *);
	int (*rwlock_unlock)(pthread_rwlock_t *);
	int (*rwlock_timedrdlock)(pthread_rwlock_t *, const struct timespec *);
	int (*rwlock_timedwrlock)(pthread_rwlock_t *, const struct timespec *);
	int (*rwlock_clockrdlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
	int (*rwlock_clockwrlock)(pthread_rwlock_t *, clockid_t, const struct timespec *);
	int (*barrier_wait)(pthread_barrier_t *);
	int (*sem_wait)(sem_t *);
	int (*sem_trywait)(sem_t *);
	int (*sem_post)(sem_t *);
	int (*sem_timedwait)(sem_t *, const struct timespec *);
	int (*sem_clockwait)(sem_t *, clockid_t, const struct timespec *);
	int (*cnd_wait)(cnd_t *, mtx_t *);
	int (*cnd_timedwait)(cnd_t *, mtx_t *, const struct timespec *);
	int (*cnd_signal)(cnd_t *);
	int (*cnd_broadcast)(cnd_t *);
	void (*cnd_destroy)(cnd_t *);
	long (*system_call)(long, ...);
} real;

static const struct original {
	const char *name;
	void *at; /* the pointer in `real` */
	const char *version;
} originals[] = {
	{ "pthread_mutex_lock", &real.mutex_lock, NULL },
	{ "pthread_mutex_trylock", &real.mutex_trylock, NULL },
	{ "pthread_mutex_unlock", &real.mutex_unlock, NULL },
	{ "pthread_mutex_timedlock", &real.mutex_timedlock, NULL },
	{ "pthread_mutex_clocklock", &real.mutex_clocklock, NULL },
	{ "pthread_cond_init", &real.cond_init, COND_VERSION },
	{ "pthread_cond_destroy", &real.cond_destroy, COND_VERSION },
	{ "pthread_cond_wait", &real.cond_wait, COND_VERSION },
	{ "pthread_cond_timedwait", &real.cond_timedwait, COND_VERSION },
	{ "pthread_cond_clockwait", &real.cond_clockwait, NULL },
	{ "pthread_cond_signal", &real.cond_signal, COND_VERSION },
	{ "pthread_cond_broadcast", &real.cond_broadcast, COND_VERSION },
	{ "pthread_rwlock_rdlock", &real.rwlock_rdlock, NULL },
	{ "pthread_rwlock_wrlock", &real.rwlock_wrlock, NULL },
	{ "pthread_rwlock_tryrdlock", &real.rwlock_tryrdlock, NULL },
	{ "pthread_rwlock_trywrlock", &real.rwlock_trywrlock, NULL },
	{ "pthread_rwlock_unlock", &real.rwlock_unlock, NULL },
	{ "pthread_rwlock_timedrdlock", &real.rwlock_timedrdlock, NULL },
	{ "pthread_rwlock_timedwrlock", &real.rwlock_timedwrlock, NULL },
	{ "pthread_rwlock_clockrdlock", &real.rwlock_clockrdlock, NULL },
	{ "pthread_rwlock_clockwrlock", &real.rwlock_clockwrlock, NULL },
	{ "pthread_barrier_wait", &real.barrier_wait, NULL },
	{ "sem_wait", &real.sem_wait, NULL },
	{ "sem_trywait", &real.sem_trywait, NULL },
	{ "sem_post", &real.sem_post, NULL },
	{ "sem_timedwait", &real.sem_timedwait, NULL },
	{ "sem_clockwait", &real.sem_clockwait, NULL },
	{ "cnd_wait", &real.cnd_wait, NULL },
	{ "cnd_timedwait", &real.cnd_timedwait, NULL },
	{ "cnd_signal", &real.cnd_signal, NULL },
	{ "cnd_broadcast", &real.cnd_broadcast, NULL },
	{ "cnd_destroy", &real.cnd_destroy, NULL },
	{ "syscall", &real.system_call, NULL },
};

static void *original(const struct original *o)
{
	return o->version ? dlvsym(RTLD_NEXT, o->name, o->version)
			  : dlsym(RTLD_NEXT, o->name);
}

/* Two threads that come here at once write the same. */
static void find(void)
{
	for (size_t i = 0; i < sizeof(originals) / sizeof(originals[0]); i++) {
		void *found = original(&originals[i]);

		memcpy(originals[i].at, &found, sizeof(found));
	}
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	if (!real.mutex_lock)
		find();
	return real.mutex_lock(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (!real.mutex_trylock)
		find();
	return real.mutex_trylock(mutex);
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!real.mutex_unlock)
		find();
	return real.mutex_unlock(mutex);
}

int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	if (!real.mutex_timedlock)
		find();
	return real.mutex_timedlock(mutex, until);
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
			    const struct timespec *until)
{
	if (!real.mutex_clocklock)
		find();
	return real.mutex_clocklock(mutex, clock, until);
}

int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
	if (!real.cond_init)
		find();
	return real.cond_init(cond, attr);
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
	if (!real.cond_destroy)
		find();
	return real.cond_destroy(cond);
}

int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	if (!real.cond_wait)
		find();
	return real.cond_wait(cond, mutex);
}

int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
			   const struct timespec *until)
{
	if (!real.cond_timedwait)
		find();
	return real.cond_timedwait(cond, mutex, until);
}

int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
			   const struct timespec *until)
{
	if (!real.cond_clockwait)
		find();
	return real.cond_clockwait(cond, mutex, clock, until);
}

int pthread_cond_signal(pthread_cond_t *cond)
{
	if (!real.cond_signal)
		find();
	return real.cond_signal(cond);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
	if (!real.cond_broadcast)
		find();
	return real.cond_broadcast(cond);
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	if (!real.rwlock_rdlock)
		find();
	return real.rwlock_rdlock(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	if (!real.rwlock_wrlock)
		find();
	return real.rwlock_wrlock(lock);
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	if (!real.rwlock_tryrdlock)
		find();
	return real.rwlock_tryrdlock(lock);
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	if (!real.rwlock_trywrlock)
		find();
	return real.rwlock_trywrlock(lock);
}

int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	if (!real.rwlock_unlock)
		find();
	return real.rwlock_unlock(lock);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	if (!real.rwlock_timedrdlock)
		find();
	return real.rwlock_timedrdlock(lock, until);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
	if (!real.rwlock_timedwrlock)
		find();
	return real.rwlock_timedwrlock(lock, until);
}

int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
			       const struct timespec *until)
{
	if (!real.rwlock_clockrdlock)
		find();
	return real.rwlock_clockrdlock(lock, clock, until);
}

int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
			       const struct timespec *until)
{
	if (!real.rwlock_clockwrlock)
		find();
	return real.rwlock_clockwrlock(lock, clock, until);
}

int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	if (!real.barrier_wait)
		find();
	return real.barrier_wait(barrier);
}

int sem_wait(sem_t *sem)
{
	if (!real.sem_wait)
		find();
	return real.sem_wait(sem);
}

int sem_trywait(sem_t *sem)
{
	if (!real.sem_trywait)
		find();
	return real.sem_trywait(sem);
}

int sem_post(sem_t *sem)
{
	if (!real.sem_post)
		find();
	return real.sem_post(sem);
}

int sem_timedwait(sem_t *sem, const struct timespec *until)
{
	if (!real.sem_timedwait)
		find();
	return real.sem_timedwait(sem, until);
}

int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *until)
{
	if (!real.sem_clockwait)
		find();
	return real.sem_clockwait(sem, clock, until);
}

int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
	if (!real.cnd_wait)
		find();
	return real.cnd_wait(cond, mutex);
}

int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *until)
{
	if (!real.cnd_timedwait)
		find();
	return real.cnd_timedwait(cond, mutex, until);
}

int cnd_signal(cnd_t *cond)
{
	if (!real.cnd_signal)
		find();
	return real.cnd_signal(cond);
}

int cnd_broadcast(cnd_t *cond)
{
	if (!real.cnd_broadcast)
		find();
	return real.cnd_broadcast(cond);
}

void cnd_destroy(cnd_t *cond)
{
	if (!real.cnd_destroy)
		find();
	real.cnd_destroy(cond);
}

/* No call has more than six arguments; what was not passed is not looked at. */
long syscall(long number, ...)
{
	long a[6];
	va_list list;

	if (!real.system_call)
		find();
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	return real.system_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
