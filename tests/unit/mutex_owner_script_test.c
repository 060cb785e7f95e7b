/* SPDX-License-Identifier: MIT */
/* Who owns a mutex that knows its owner, over a scripted kernel: by what a thread is told from
 * others that have its id. */
#include <errno.h>
#include <stdlib.h>

#include "common/cmocka_all.h"
#include "common/mutex_script.h"

#define m       script_mutex
#define CHECKED MUTEX_WORD_CHECKED
#define OWN     ((uint64_t)FAKE_ID << 32)

static void word_is(uint64_t word)
{
	CHECK_EQ(mutex_word(&m), word);
	CHECK_EQ(errno, 4711);
}

/* The caller's id is the owner's, in another namespace. */
static void an_id_of_another_namespace(void)
{
	const unsigned kinds[] = { IPCWAIT_RECURSIVE, IPCWAIT_ERRORCHECK };

	for (unsigned i = 0; i < 2; i++) {
		uint64_t owned = OWN | (UINT64_C(7) << 17) | CHECKED;

		script_world(kinds[i], 0, IPCWAIT_BLOCK);
		fake.process = 7;
		CHECK_EQ(ipcwait_mutex_lock(&m), 0);
		word_is(owned);
		fake.process = 8;
		CHECK_EQ(ipcwait_mutex_lock_until(&m, 0), -ETIMEDOUT);
		CHECK_EQ(ipcwait_mutex_trylock(&m), -EBUSY);
		CHECK_EQ(ipcwait_mutex_unlock(&m), -EPERM);
		word_is(owned);
		fake.process = 7;
		CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
		word_is(owned & ~OWN);
		/* What is left of the one does not stay with the other. */
		fake.process = 8;
		CHECK_EQ(ipcwait_mutex_trylock(&m), 0);
		word_is(OWN | (UINT64_C(8) << 17) | CHECKED);
		CHECK_EQ(ipcwait_mutex_unlock(&m), 0);
		CHECK_EQ(ipcwait_mutex_fini(&m), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CHILD_TEST(an_id_of_another_namespace),
	};

	unsetenv("IPCWAIT_POLICY");
	unsetenv("IPCWAIT_MAX_SPIN_US");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
