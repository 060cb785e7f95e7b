/* SPDX-License-Identifier: MIT */
/* IPCWAIT_RECORD: what is recorded of waits and of their processes. */
#include <limits.h>
#include <sys/stat.h>

#include "env/facts.h"
#include "record_world.h"

static void what_a_wait_was_like(void)
{
	const struct ipcwait_record_wait *w;
	int64_t before = ipcwait_now_ns();
	struct stat st;

	prepare();
	errno = 4711;
	record(123456789);
	iw_record_wait(path, &(struct iw_outcome){ .window = &window });
	iw_record_wait(path, &(struct iw_outcome){ .reason = IW_PRESET_BLOCK,
						   .result = -ETIMEDOUT,
						   .spun_wasted_ns = UINT64_MAX,
						   .window_ns = UINT64_MAX });
	CHECK_EQ(errno, 4711);
	read_file();
	CHECK_EQ(waits(), 3);
	w = wait_at(0);
	CHECK_EQ(w->pid, getpid());
	CHECK_EQ(w->tid, getpid());
	CHECK_EQ(w->kind, IPCWAIT_KIND_MUTEX);
	CHECK_EQ(w->reason, IPCWAIT_REASON_WINDOW_OVER);
	CHECK_EQ(w->error, 0);
	CHECK_EQ(w->known, 1);
	CHECK(w->ended_ns >= (uint64_t)before && w->ended_ns <= (uint64_t)ipcwait_now_ns());
	CHECK_EQ(w->object, (uintptr_t)&window);
	CHECK_EQ(w->site, 0x4711);
	CHECK_EQ(w->length_ns, 123456789);
	CHECK_EQ(w->slept_ns, 2 * 123456789);
	CHECK_EQ(w->spun_ns, 5);
	CHECK_EQ(w->window_ns, 7);
	CHECK(wait_at(1)->known && wait_at(1)->length_ns == 0 && !wait_at(1)->reason);
	CHECK(!wait_at(2)->known);
	CHECK_EQ(wait_at(2)->error, ETIMEDOUT);
	CHECK_EQ(wait_at(2)->spun_ns, UINT32_MAX);
	CHECK_EQ(wait_at(2)->window_ns, UINT32_MAX);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode, S_IFREG | 0600);
	CHECK_EQ(lines_of_stderr(), 0);
	tidy_up();
}

/* The path of a mapping, put together. */
static void path_of(const struct ipcwait_record_mapping *m, char text[PATH_MAX])
{
	const struct ipcwait_record_text *part = (const void *)(m + 1);

	for (size_t at = 0; at < m->length; at += sizeof(part->text), part++) {
		CHECK_EQ(part->type, IPCWAIT_RECORD_TEXT);
		memcpy(text + at, part->text, sizeof(part->text));
	}
	text[m->length] = '\0';
}

static bool is_in_own_program(const struct ipcwait_record_mapping *m, const char *own)
{
	char text[PATH_MAX];

	path_of(m, text);
	return m->begin <= (uintptr_t)record && (uintptr_t)record < m->end &&
	       !strcmp(text, own);
}

static void who_the_process_is(void)
{
	const struct ipcwait_record_process *p;
	const struct ipcwait_record_mapping *m;
	char own[PATH_MAX] = "";
	unsigned found = 0;

	CHECK(readlink("/proc/self/exe", own, sizeof(own) - 1) > 0);
	prepare();
	record(1);
	read_file();
	p = record_at(0);
	CHECK_EQ(p->type, IPCWAIT_RECORD_PROCESS);
	CHECK_EQ(p->pid, getpid());
	CHECK_EQ(p->parent, 0);
	CHECK_EQ(strncmp(p->program, program_invocation_short_name, 31), 0);
	for (unsigned i = 0; (m = find(IPCWAIT_RECORD_MAPPING, i)); i++)
		found += is_in_own_program(m, own);
	CHECK_EQ(found, 1);
	tidy_up();
}

static void note_cost(uint64_t block_ns, uint64_t samples)
{
	iw_record_cost(&(struct ipcwait_record_cost){
		.block_ns = block_ns, .samples = samples, .waker_ns = 7, .sleeper_ns = 8 });
}

static void names_and_costs(void)
{
	const struct ipcwait_record_name *n;
	const struct ipcwait_record_cost *c;

	prepare();
	CHECK_EQ(ipcwait_object_set_name(&window, "before"), 0);
	note_cost(1000, 1);
	record(1);
	CHECK_EQ(ipcwait_object_set_name(&window, "after"), 0);
	note_cost(1000, 1);
	note_cost(1100, 2);
	note_cost(1200, 3);
	read_file();
	for (unsigned i = 0; i < 2; i++) {
		n = find(IPCWAIT_RECORD_NAME, i);
		CHECK(n);
		CHECK_EQ(n->object, (uintptr_t)&window);
		CHECK_EQ(strcmp(n->name, i ? "after" : "before"), 0);
	}
	c = find(IPCWAIT_RECORD_COST, 0);
	CHECK(c && c->block_ns == 1000 && c->samples == 1);
	c = find(IPCWAIT_RECORD_COST, 1);
	CHECK(c && c->block_ns == 1200 && c->samples == 3);
	CHECK(c->waker_ns == 7 && c->sleeper_ns == 8 && c->at_ns);
	CHECK(!find(IPCWAIT_RECORD_COST, 2) && !find(IPCWAIT_RECORD_NAME, 2));
	tidy_up();
}

/* Through the engine: the true length of a wait that slept, not how long it slept. */
static void waits_are_recorded(void)
{
	struct ipcwait_sem s = IPCWAIT_SEM_INIT(0);
	struct ipcwait_stats st;
	unsigned tries = 0;

	prepare();
	CHECK_EQ(setenv("IPCWAIT_CALIBRATION", "none", 1), 0);
	CHECK_EQ(setenv("IPCWAIT_RECORD", path, 1), 0);
	iw_facts_forget();
	/* A wait that begins after its deadline is none, and not recorded; a late one is short. */
	do {
		CHECK(++tries < 1000);
		CHECK_EQ(ipcwait_sem_wait_until(&s, ipcwait_deadline_in_ns(50000000)),
			 -ETIMEDOUT);
		read_file();
	} while (waits() < 5 || wait_at(waits() - 1)->slept_ns < 2000000);
	CHECK(ipcwait_stats_get(&st, sizeof(st)) > 0);
	for (unsigned i = 0; i < waits(); i++) {
		const struct ipcwait_record_wait *w = wait_at(i);

		CHECK_EQ(w->error, ETIMEDOUT);
		CHECK_EQ(w->object, (uintptr_t)&s.window);
		CHECK(w->slept_ns > 0);
		/* On one CPU nothing is measured. */
		CHECK_EQ(w->known, st.usable_cpus > 1);
		CHECK(!w->known || w->length_ns >= w->slept_ns);
	}
	tidy_up();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(what_a_wait_was_like),
		CHILD_TEST(who_the_process_is),
		CHILD_TEST(names_and_costs),
		CHILD_TEST(waits_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
