/* SPDX-License-Identifier: MIT */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

/* `ipcwait bench`: a hand-off, here and with glibc. Returns an exit status. */
int bench_main(int argc, char **argv);

#endif
