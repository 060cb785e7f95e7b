/* SPDX-License-Identifier: MIT */
/* Places in the file of the record: where it is, who writes where, and how it grows. */
#ifndef IW_WATCH_RECORD_PLACE_H
#define IW_WATCH_RECORD_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ipcwait/record.h>

#define IW_RECORD_BYTES 72u

union iw_record {
	uint32_t type;
	struct ipcwait_record_process process;
	struct ipcwait_record_wait wait;
	struct ipcwait_record_name name;
	struct ipcwait_record_cost cost;
	struct ipcwait_record_mapping mapping;
	struct ipcwait_record_text text;
};

/*
 * Whether records can be written. The first call with a @path, which may have %p in it, opens the
 * file; NULL does not.
 */
bool iw_record_is_open(const char *path);

/* It is open, and this process has told of itself: nothing is done about either. */
bool iw_record_is_told(void);

/* Write @n records that belong together, and the number of this process in each. */
void iw_record_put(union iw_record *r, unsigned n);

#endif
