/* SPDX-License-Identifier: MIT */
/* May not come twice. */
struct ipcwait_unguarded {
	int v;
};
