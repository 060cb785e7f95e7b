/* SPDX-License-Identifier: MIT */
/*
 * The library is loaded, used by several threads and unloaded, again and again. Some threads
 * are there all the time; others live for one load. It really goes: nothing holds on to it, and
 * what is left of a thread's data does not pile up.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ipcwait/ipcwait.h>

#include "common/check.h"

#define LOADS   200
#define THREADS 3

/* The exported twins of the inline functions, and what is out of line anyway. */
static struct {
	int (*post)(struct ipcwait_sem *s);
	int (*wait)(struct ipcwait_sem *s);
	int (*wait_until)(struct ipcwait_sem *s, int64_t deadline_ns);
	int64_t (*deadline_in_ns)(int64_t ns);
	int (*stats_get)(struct ipcwait_stats *st, size_t size);
} call;

static struct {
	struct ipcwait_sem to, fro;
} pair[THREADS];

static pthread_barrier_t loaded, used;
static bool over;

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	CHECK(found != NULL);
	return found;
}

static void *load(void)
{
	void *library = dlopen(IW_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		check_failed(__FILE__, __LINE__, dlerror());
	*(void **)&call.post = symbol(library, "ipcwait_sem_post");
	*(void **)&call.wait = symbol(library, "ipcwait_sem_wait");
	*(void **)&call.wait_until = symbol(library, "ipcwait_sem_wait_until");
	*(void **)&call.deadline_in_ns = symbol(library, "ipcwait_deadline_in_ns");
	*(void **)&call.stats_get = symbol(library, "ipcwait_stats_get");
	return library;
}

static void unload(void *library)
{
	CHECK(dlclose(library) == 0);
	memset(&call, 0, sizeof(call));
	CHECK(dlopen(IW_TEST_LIBRARY, RTLD_NOW | RTLD_NOLOAD) == NULL);
}

/* Sleeps, spins, and what a deadline ends. */
static void use(unsigned i, bool first)
{
	struct ipcwait_sem own = IPCWAIT_SEM_INIT(0);

	for (int n = 0; n < 20; n++) {
		CHECK_EQ(call.post(first ? &pair[i].to : &pair[i].fro), 0);
		CHECK_EQ(call.wait(first ? &pair[i].fro : &pair[i].to), 0);
	}
	CHECK_EQ(call.wait_until(&own, call.deadline_in_ns(20000)), -ETIMEDOUT);
}

/* There before the library, and after it. */
static void *stay(void *arg)
{
	for (;;) {
		pthread_barrier_wait(&loaded);
		if (over)
			return NULL;
		use((unsigned)(uintptr_t)arg, true);
		pthread_barrier_wait(&used);
	}
}

static void *come_and_go(void *arg)
{
	use((unsigned)(uintptr_t)arg, false);
	return NULL;
}

static void load_and_use(void)
{
	void *library = load();
	pthread_t visitor[THREADS];
	struct ipcwait_stats st;

	pthread_barrier_wait(&loaded);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&visitor[i], NULL, come_and_go, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(visitor[i], NULL), 0);
	pthread_barrier_wait(&used);
	/* The counters are those of this load. */
	CHECK_EQ(call.stats_get(&st, sizeof(st)), sizeof(st));
	CHECK_EQ(st.kind[IPCWAIT_KIND_SEM].expired, 2 * THREADS);
	unload(library);
}

/* Lines in /proc/self/maps. */
static unsigned mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned lines = 0;
	int c;

	CHECK(maps != NULL);
	while ((c = getc(maps)) != EOF)
		lines += c == '\n';
	CHECK(fclose(maps) == 0);
	return lines;
}

int main(void)
{
	pthread_t resident[THREADS];
	unsigned before = 0;

	check_watchdog(60);
	CHECK_EQ(pthread_barrier_init(&loaded, NULL, THREADS + 1), 0);
	CHECK_EQ(pthread_barrier_init(&used, NULL, THREADS + 1), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&resident[i], NULL, stay, (void *)i), 0);
	for (int i = 0; i < LOADS; i++) {
		if (i == LOADS / 2)
			before = mappings();
		load_and_use();
	}
	/* What each load leaves behind is LOADS / 2 more; a sanitizer maps a few of its own. */
	CHECK(mappings() < before + LOADS / 4);
	over = true;
	pthread_barrier_wait(&loaded);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(resident[i], NULL), 0);
	return 0;
}
