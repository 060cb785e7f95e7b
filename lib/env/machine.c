/* SPDX-License-Identifier: MIT */
#include "env/machine.h"
#include "os/file.h"
#include "os/seam.h"

/* On CPUs without a hypervisor bit the kernel knows it from Xen or from the device tree. */
bool iw_machine_virtual(void)
{
	char text[8];

	return iw_arch_hypervisor() ||
	       iw_file_read("/sys/hypervisor/type", text, sizeof(text)) > 0 ||
	       iw_file_read("/proc/device-tree/hypervisor/compatible", text, sizeof(text)) >
		       0;
}

bool iw_machine_dedicated(void)
{
	return iw_arch_vcpu_dedicated();
}
