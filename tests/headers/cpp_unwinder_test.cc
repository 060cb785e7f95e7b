/* SPDX-License-Identifier: MIT */
/*
 * <ipcwait/once.h> in a program that has an unwinder of its own, by -static-libgcc: the library
 * does not see that an exception leaves the function, but that gets to the caller.
 */
#include <stdexcept>

#include <ipcwait/once.h>

#include "cpp_check.hpp"

static ipcwait_once once = IPCWAIT_ONCE_INIT;

static int leave(void *)
{
	throw std::runtime_error("left");
}

static bool is_left()
{
	try {
		(void)ipcwait_once_run(&once, leave, nullptr);
	} catch (const std::runtime_error &) {
		return true;
	}
	return false;
}

int main()
{
	CHECK(is_left());
	CHECK(ipcwait_once_run(&once, leave, nullptr) == -EDEADLK);
}
