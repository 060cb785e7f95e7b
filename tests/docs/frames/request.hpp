/* SPDX-License-Identifier: MIT */
/* What the fragments about queues in C++ share. */
#ifndef REQUEST_HPP
#define REQUEST_HPP

#include <ipcwait/queue.hpp>

#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#endif
