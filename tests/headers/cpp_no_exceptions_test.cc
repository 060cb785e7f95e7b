/* SPDX-License-Identifier: MIT */
/* Queues and channels in a program without exceptions: what would be thrown ends it. */
#include <csignal>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <ipcwait/channel.hpp>
#include <ipcwait/channel_shared.hpp>
#include <ipcwait/spsc.hpp>

#include "cpp_check.hpp"

#ifdef __cpp_exceptions
#error "this test is about programs without them"
#endif

template <class F> static bool aborts(F f)
{
	int status = 0;
	pid_t child = fork();

	CHECK(child >= 0);
	if (child == 0) {
		f();
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static std::vector<std::string> words(std::size_t n)
{
	std::vector<std::string> all;

	for (std::size_t i = 0; i < n; i++)
		all.push_back("word " + std::to_string(i));
	return all;
}

/* By their addresses, one by one and in bulk; what does not go in is in its place again. */
static void elements_of_any_type()
{
	ipcwait::channel<std::string> lines(100);
	ipcwait::spsc_queue<std::unique_ptr<int>> numbers(1);
	std::vector<std::string> in = words(150), out(150);

	CHECK(lines.try_send_bulk(std::make_move_iterator(in.begin()), in.size()) == 100);
	CHECK(in[0].empty() && in[100] == "word 100");
	CHECK(!lines.try_send("one more"));
	CHECK(lines.try_recv_bulk(out.begin(), out.size()) == 100);
	CHECK(out[99] == "word 99" && !lines.recv_for(SHORT));
	CHECK(numbers.try_push(std::make_unique<int>(7)));
	CHECK(!numbers.try_emplace(new int(8)));
	CHECK(**numbers.pop() == 7);
	lines.close();
	CHECK(lines.send("late").closed());
}

static void errors_end_the_program()
{
	auto shared = ipcwait::shared_channel<int>::anonymous(4);

	CHECK(shared.send(1) && shared.recv() == 1);
	CHECK(aborts([] { ipcwait::channel<int> c(IPCWAIT_CHANNEL_CAPACITY_MAX + 1); }));
	CHECK(aborts([&] { (void)shared.send(2); }));
	CHECK(!aborts([] { ipcwait::channel<int> c(1); }));
}

int main()
{
	elements_of_any_type();
	errors_end_the_program();
	return 0;
}
