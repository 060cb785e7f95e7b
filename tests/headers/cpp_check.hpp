/* SPDX-License-Identifier: MIT */
/* What the tests of the C++ headers have in common. */
#ifndef CPP_CHECK_HPP
#define CPP_CHECK_HPP

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#define CHECK(x)                                                             \
	((x) ? (void)0                                                       \
	     : (std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x), \
		std::abort()))

/* Long enough for anything; and a moment after which something has not happened. */
static constexpr auto LONG = std::chrono::seconds(20);
static constexpr auto SHORT = std::chrono::milliseconds(5);

#ifdef __cpp_exceptions
template <class F> static bool fails_with(int error, F f)
{
	try {
		f();
	} catch (const std::system_error &e) {
		return e.code() == std::error_code(error, std::generic_category());
	}
	return false;
}
#endif

#endif
