/* SPDX-License-Identifier: MIT */
/* The server of the fragment gets its one request. */
#include "request.hpp"

static std::string served;

template <class Request> static void serve(const Request &request)
{
	served += request.name;
}

int main()
{
	/* @BLOCK@ */

	return served == "first" && !requests.pop() ? 0 : 1;
}
