/* SPDX-License-Identifier: MIT */
/* `ipcwait record`: a program whose waits are recorded. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

/* Where the record is unless something else is said. */
#define RECORD_FILE "ipcwait.record"

/* The subcommand. Returns an exit status. */
int record_main(int argc, char **argv);

#endif
