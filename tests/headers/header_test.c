/* SPDX-License-Identifier: MIT */
/* Compiled once per public header: it needs nothing before it, and may come twice. */
#include IPCWAIT_TEST_HEADER
#include IPCWAIT_TEST_HEADER

int main(void)
{
	return 0;
}
