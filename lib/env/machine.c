/* SPDX-License-Identifier: MIT */
#include "env/machine.h"
#include "os/file.h"
#include "os/seam.h"

/* The kernel knows it from Xen or from the device tree. */
bool iw_machine_said_virtual(void)
{
	char text[8];

	return !IW_ARCH_HYPERVISOR_BIT &&
	       (iw_file_read("/sys/hypervisor/type", text, sizeof(text)) > 0 ||
		iw_file_read("/proc/device-tree/hypervisor/compatible", text,
			     sizeof(text)) > 0);
}

bool iw_machine_virtual(void)
{
	return iw_arch_hypervisor();
}

bool iw_machine_dedicated(void)
{
	return iw_arch_vcpu_dedicated();
}
