/* SPDX-License-Identifier: MIT */
/*
 * The library is loaded by hand, and unloaded while a thread lives that has used a pool: the
 * thread's end is nothing to anybody. pool_unload_test LIBRARY
 */
#include <dlfcn.h>
#include <pthread.h>

#include <ipcwait/pool.h>

#include "common/check.h"

static int (*create)(const struct ipcwait_pool_params *, struct ipcwait_pool **);
static void (*destroy)(struct ipcwait_pool *);
static void *(*get)(struct ipcwait_pool *);
static void (*put)(struct ipcwait_pool *, void *);

static struct ipcwait_pool *pool;
static pthread_barrier_t used, unloaded;

static void *use(void *unused)
{
	(void)unused;
	put(pool, get(pool));
	pthread_barrier_wait(&used);
	pthread_barrier_wait(&unloaded);
	return NULL;
}

/* ISO C has no conversion from what dlsym() returns. */
static void find(void *library, const char *name, void *function)
{
	*(void **)function = dlsym(library, name);
	CHECK(*(void **)function != NULL);
}

static void load_and_unload(const char *path)
{
	struct ipcwait_pool_params params = { .elem_size = 100 };
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	pthread_t thread;

	CHECK(library != NULL);
	find(library, "ipcwait_pool_create", &create);
	find(library, "ipcwait_pool_destroy", &destroy);
	find(library, "ipcwait_pool_get", &get);
	find(library, "ipcwait_pool_put", &put);
	CHECK_EQ(create(&params, &pool), 0);
	CHECK_EQ(pthread_create(&thread, NULL, use, NULL), 0);
	pthread_barrier_wait(&used);
	destroy(pool);
	CHECK_EQ(dlclose(library), 0);
	pthread_barrier_wait(&unloaded);
	CHECK_EQ(pthread_join(thread, NULL), 0);
}

int main(int argc, char **argv)
{
	check_watchdog(60);
	CHECK_EQ(argc, 2);
	CHECK_EQ(pthread_barrier_init(&used, NULL, 2), 0);
	CHECK_EQ(pthread_barrier_init(&unloaded, NULL, 2), 0);
	for (int i = 0; i < 20; i++)
		load_and_unload(argv[1]);
	/* It was really gone each time. */
	CHECK(dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
	return 0;
}
