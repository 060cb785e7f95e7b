/* SPDX-License-Identifier: MIT */
/* IPCWAIT_RECORD: threads and processes that share a file, how it grows, and when there is none. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "os/life.h"
#include "record_world.h"

#define THREADS 4
#define EACH    2000

static void *record_some(void *arg)
{
	uint64_t first = (uintptr_t)arg;

	for (uint64_t i = 0; i < EACH; i++)
		record(first + i);
	return NULL;
}

static void record_in_threads(void)
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, record_some,
					(void *)(1 + i * EACH)),
			 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
}

/* Each number at most @most times; returns how many waits there are. */
static uint64_t count_waits(unsigned most)
{
	static unsigned char seen[THREADS * EACH + 1];
	uint64_t n = 0;

	read_file();
	for (uint64_t i = 0; i < head->used; i++) {
		const struct ipcwait_record_wait *w = record_at(i);

		if (w->type != IPCWAIT_RECORD_WAIT)
			continue;
		CHECK(w->length_ns >= 1 && w->length_ns <= THREADS * EACH);
		CHECK_EQ(w->slept_ns, 2 * w->length_ns);
		CHECK(seen[w->length_ns]++ < most);
		n++;
	}
	return n;
}

/* What is lost may be something else too: @others at most, as a process that begins. */
static void check_waits(uint64_t recorded, uint64_t expected, uint64_t others)
{
	CHECK(recorded <= expected);
	CHECK(recorded + head->lost >= expected);
	CHECK(recorded + head->lost <= expected + others);
}

/*
 * Threads that come while the file is opened go unrecorded, so the first wait is recorded alone. It
 * grows ahead of them, but on a machine that stops whoever lets it grow some may be lost.
 */
static void threads_get_places_of_their_own(void)
{
	prepare();
	record(1);
	record_in_threads();
	check_waits(count_waits(2), THREADS * EACH + 1, 0);
	CHECK(head->room > THREADS * EACH / 2 ||
	      (head->lost && head->room > IW_RECORD_CHUNK));
	tidy_up();
}

static void a_race_for_the_file_leaves_a_whole_one(void)
{
	prepare();
	record_in_threads();
	CHECK(count_waits(1) + head->lost >= EACH);
	CHECK_EQ(lines_of_stderr(), 0);
	tidy_up();
}

static unsigned processes_with(uint32_t parent)
{
	const struct ipcwait_record_process *p;
	unsigned n = 0;

	for (unsigned i = 0; (p = find(IPCWAIT_RECORD_PROCESS, i)); i++)
		n += p->parent == parent;
	return n;
}

static void children_share_the_file(void)
{
	uint64_t recorded, of_parent = 0;
	pid_t child;

	prepare();
	record(1);
	child = fork();
	CHECK(child >= 0);
	record_in_threads();
	if (child == 0)
		_exit(0);
	CHECK_EQ(check_reap(child), 0);
	recorded = count_waits(3);
	check_waits(recorded, 2 * THREADS * EACH + 1, 1);
	/* Where the kernel cannot tell, a child goes by its parent's number. */
	if (iw_process_generation()) {
		CHECK(head->lost || processes_with((uint32_t)getpid()) == 1);
		for (uint64_t i = 0; i < recorded; i++)
			of_parent += wait_at(i)->pid == (uint32_t)getpid();
		CHECK(head->lost || (of_parent > EACH && of_parent < recorded - EACH));
	}
	tidy_up();
}

/* As those that a shell starts one after the other. */
static void programs_share_the_file(void)
{
	pid_t child;

	prepare();
	for (int i = 0; i < 3; i++) {
		child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			record(1 + (uint64_t)i);
			_exit(0);
		}
		CHECK_EQ(check_reap(child), 0);
	}
	CHECK_EQ(count_waits(1), 3);
	CHECK_EQ(processes_with(0), 3);
	tidy_up();
}

static void good_after_a_crash(void)
{
	pid_t child;

	prepare();
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		record(17);
		record(18);
		kill(getpid(), SIGKILL);
	}
	CHECK(WIFSIGNALED(check_reap(child)));
	CHECK_EQ(count_waits(1), 2);
	CHECK_EQ(wait_at(1)->length_ns, 18);
	tidy_up();
}

static void the_path_has_the_number_of_the_process(void)
{
	char pattern[96];

	prepare();
	snprintf(pattern, sizeof(pattern), "%s/%%%%%%p", folder);
	snprintf(path, sizeof(path), "%s/%%%d", folder, (int)getpid());
	iw_record_wait(pattern, &(struct iw_outcome){
					.window = &window, .wait_ns = 1, .slept_ns = 2 });
	CHECK_EQ(count_waits(1), 1);
	tidy_up();
}

/* Many waits: no byte is lost, and it ends where it said that it would. */
static void grows_and_ends(void)
{
	uint64_t most = IW_RECORD_MOST, others;

	prepare();
	record(1);
	read_file();
	CHECK_EQ(size, FIRST_AT + CHUNK_BYTES);
	others = head->used - 1;
	for (uint64_t i = 2; i <= most + 10; i++)
		record(i);
	read_file();
	CHECK_EQ(head->room, most);
	CHECK_EQ(head->used, most);
	CHECK_EQ(head->lost, 10 + others);
	CHECK_EQ(((const struct ipcwait_record_wait *)record_at(most - 1))->length_ns,
		 most - others);
	CHECK_EQ(lines_of_stderr(), 0);
	tidy_up();
}

/* What was taken away, or replaced, is not written to any more. */
static void renamed_while_it_grows(void)
{
	char elsewhere[96];
	struct stat st;
	FILE *f;

	prepare();
	record(1);
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", folder);
	CHECK_EQ(rename(path, elsewhere), 0);
	f = fopen(path, "we");
	CHECK(f && fputs("precious", f) >= 0);
	CHECK_EQ(fclose(f), 0);
	for (unsigned i = 0; i < 2 * IW_RECORD_CHUNK; i++)
		record(1);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_size, 8);
	CHECK_EQ(rename(elsewhere, path), 0);
	read_file();
	CHECK_EQ(head->used, IW_RECORD_CHUNK);
	CHECK(head->lost > IW_RECORD_CHUNK);
	tidy_up();
}

/* The head of the file, as a process has it that was copied from one that records. */
static struct ipcwait_record_head *map_head(void)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *h = mmap(NULL, FIRST_AT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	CHECK(h != MAP_FAILED);
	close(fd);
	return h;
}

/*
 * A child that has given up its rights still has the mapping, and may write there at any time.
 * Nothing is written where the file has no place.
 */
static void any_head_leads_into_the_file(void)
{
	static const uint64_t values[] = { 0,
					   1,
					   IW_RECORD_CHUNK,
					   IW_RECORD_MOST - 10,
					   IW_RECORD_MOST,
					   UINT64_C(1) << 40,
					   UINT64_MAX / RECORD_BYTES,
					   UINT64_MAX - 1,
					   UINT64_MAX };
	const unsigned n = sizeof(values) / sizeof(values[0]);
	struct ipcwait_record_head *h;
	struct stat st;

	prepare();
	record(1);
	h = map_head();
	for (unsigned i = 0; i < n * n * n; i++) {
		h->used = values[i % n];
		h->room = values[i / n % n];
		h->most = h->first_at = values[i / n / n];
		for (unsigned k = 0; k < 3; k++)
			record(1);
	}
	CHECK_EQ(stat(path, &st), 0);
	CHECK(st.st_size <= (off_t)(FIRST_AT + (uint64_t)IW_RECORD_MOST * RECORD_BYTES));
	tidy_up();
}

static void refuse_what_is_there(const char *text, size_t bytes)
{
	size_t now;
	char *found;
	int fd;

	prepare();
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK_EQ(write(fd, text, bytes), bytes);
	close(fd);
	for (int i = 0; i < 3; i++)
		record(1);
	CHECK_EQ(lines_of_stderr(), 1);
	found = read_whole(path, &now);
	CHECK_EQ(now, bytes);
	CHECK_EQ(memcmp(found, text, bytes), 0);
	free(found);
	tidy_up();
}

static void existing_file_is_left_alone(void)
{
	refuse_what_is_there("precious", 8);
}

/* Whoever can write to it could have written anything. */
static void damaged_file_is_left_alone(void)
{
	static struct {
		struct ipcwait_record_head head;
		char rest[FIRST_AT - sizeof(struct ipcwait_record_head)];
	} there = { .head = { .magic = IPCWAIT_RECORD_MAGIC,
			      .version = IPCWAIT_RECORD_VERSION,
			      .record_bytes = RECORD_BYTES,
			      .first_at = FIRST_AT,
			      .most = 1,
			      .room = 1 } };

	refuse_what_is_there((const char *)&there, sizeof(there));
}

static void empty_file_is_taken(void)
{
	int fd;

	prepare();
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	close(fd);
	record(1);
	CHECK_EQ(count_waits(1), 1);
	tidy_up();
}

static void links_are_not_followed(void)
{
	char target[96];

	prepare();
	snprintf(target, sizeof(target), "%s/target", folder);
	CHECK_EQ(symlink(target, path), 0);
	record(1);
	CHECK_EQ(lines_of_stderr(), 1);
	CHECK_EQ(access(target, F_OK), -1);
	tidy_up();
}

static void no_such_folder(void)
{
	size_t bytes;
	char *text;

	prepare();
	snprintf(path, sizeof(path), "%s/no/waits", folder);
	for (int i = 0; i < 3; i++)
		record(1);
	CHECK_EQ(lines_of_stderr(), 1);
	text = read_whole(complaints, &bytes);
	CHECK(strstr(text, "/no/waits': No such file or directory\n"));
	free(text);
	tidy_up();
}

/* As on a full disk: what was begun is taken away again. */
static void no_room_for_the_file(void)
{
	struct rlimit limit = { CHUNK_BYTES / 2, CHUNK_BYTES / 2 };

	prepare();
	CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 3; i++)
		record(1);
	CHECK_EQ(access(path, F_OK), -1);
	CHECK_EQ(lines_of_stderr(), 1);
	tidy_up();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(threads_get_places_of_their_own),
		CHILD_TEST(a_race_for_the_file_leaves_a_whole_one),
		CHILD_TEST(children_share_the_file),
		CHILD_TEST(programs_share_the_file),
		CHILD_TEST(good_after_a_crash),
		CHILD_TEST(the_path_has_the_number_of_the_process),
		CHILD_TEST(grows_and_ends),
		CHILD_TEST(renamed_while_it_grows),
		CHILD_TEST(any_head_leads_into_the_file),
		CHILD_TEST(existing_file_is_left_alone),
		CHILD_TEST(damaged_file_is_left_alone),
		CHILD_TEST(empty_file_is_taken),
		CHILD_TEST(links_are_not_followed),
		CHILD_TEST(no_such_folder),
		CHILD_TEST(no_room_for_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
