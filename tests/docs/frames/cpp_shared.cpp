/* SPDX-License-Identifier: MIT */
/* What goes into one part comes out of the other. */
#include <ipcwait/channel_shared.hpp>

struct job {
	int number;
};

/* It is one process here: both parts are had through the same descriptor. */
#define fd jobs.fd()

int main()
{
	/* @BLOCK@ */

	jobs.send(job{ 7 });
	return mine.recv()->number == 7 ? 0 : 1;
}
