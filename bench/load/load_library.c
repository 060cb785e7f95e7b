/* SPDX-License-Identifier: MIT */
/* Linked with the library, and nothing is done with it. */
#include <ipcwait/base.h>

int main(void)
{
	return !ipcwait_version();
}
