/* SPDX-License-Identifier: MIT */
/* The instructions that lib/arch/x86_64 spells in bytes, against the compiler's. None is run. */
#include <immintrin.h>
#include <string.h>

#include "common/cmocka_all.h"
#include "arch/arch.h"

/* More than any of the functions has. What follows in the program is harmless to read. */
#define CODE_BYTES 192

#define ALONE __attribute__((noinline, used))

ALONE static void our_monitor(const void *line)
{
	iw_arch_monitor(line);
}

ALONE static void our_wait(uint64_t until)
{
	iw_arch_monitor_wait(until);
}

ALONE __attribute__((target("waitpkg"))) static void their_monitor(void *line)
{
	_umonitor(line);
}

ALONE __attribute__((target("waitpkg"))) static void their_wait(uint64_t until)
{
	_umwait(1, until);
}

struct instruction {
	uint8_t prefix;
	uint8_t extension; /* of the opcode, in the operand byte */
	uint8_t register_; /* the operand */
};

/* The first instruction of the group that both belong to: a prefix and 0F AE. */
__attribute__((no_sanitize("address"))) static struct instruction find(uintptr_t function)
{
	const uint8_t *code = (const uint8_t *)function;

	for (int i = 0; i < CODE_BYTES; i++)
		if ((code[i] == 0xf2 || code[i] == 0xf3) && code[i + 1] == 0x0f &&
		    code[i + 2] == 0xae)
			return (struct instruction){ code[i], code[i + 3] >> 3,
						     code[i + 3] & 7 };
	return (struct instruction){ 0 };
}

static void compare(uintptr_t ours, uintptr_t theirs, uint8_t want_register)
{
	struct instruction a = find(ours), b = find(theirs);

	assert_int_not_equal(a.prefix, 0);
	assert_int_equal(a.prefix, b.prefix);
	assert_int_equal(a.extension, b.extension);
	assert_int_equal(a.register_, want_register);
}

static void test_monitor(void **state)
{
	(void)state;
	compare((uintptr_t)our_monitor, (uintptr_t)their_monitor, 0);
}

static void test_wait(void **state)
{
	(void)state;
	compare((uintptr_t)our_wait, (uintptr_t)their_wait, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
