/* SPDX-License-Identifier: MIT */
/* Which idle settings the kernel really took, whatever its command line asked for. */
#ifndef BENCH_VM_MACHINE_H
#define BENCH_VM_MACHINE_H

#include "../../tools/common/json_writer.h"

/* Members of the object that is open. */
void machine_write(struct json *j);

#endif
