/* SPDX-License-Identifier: MIT */
#include "layout_other.h"

#include <ipcwait/base.h>

#undef IPCWAIT_LAYOUT
#define IPCWAIT_LAYOUT OTHER_LAYOUT

#include <ipcwait/region.h>

int other_attach(struct ipcwait_region *r)
{
	return ipcwait_region_attach(r);
}
