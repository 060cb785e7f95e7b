/* SPDX-License-Identifier: MIT */
/* <ipcwait/channel.hpp>: what goes in comes out, and is constructed and destroyed once. */
#include <memory>
#include <poll.h>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <ipcwait/channel.hpp>

#include "cpp_clock.hpp"
#include "cpp_elements.hpp"

using namespace std::chrono_literals;

static const std::string text = "a text that is too long to lie in the string itself";

static void test_values()
{
	ipcwait::channel<int> ch(2);
	int x = 0;

	CHECK(ch.empty() && !ch.try_recv(x) && !ch.try_recv() && !ch.recv_for(SHORT));
	CHECK(ch.recv_until(x, std::chrono::system_clock::now() + SHORT).timed_out());
	CHECK(ch.send(1) && ch.try_send(2) && ch.size_approx() == 2);
	auto r = ch.try_send(3);
	CHECK(!r && !r.closed() && !r.timed_out());
	CHECK(ch.send_for(3, SHORT).timed_out());
	CHECK(ch.send_until(3, std::chrono::steady_clock::now() + SHORT).timed_out());
	CHECK(ch.recv(x) && x == 1 && ch.recv() == 2);
	CHECK(ch.send_for(4, LONG) && ch.recv_for(LONG) == 4);
	CHECK(ch.send_until(5, std::chrono::system_clock::now() + LONG));
	CHECK(ch.recv_until(std::chrono::steady_clock::now() + LONG) == 5);
}

static void test_objects()
{
	ipcwait::channel<std::unique_ptr<int>> ch(1);
	ipcwait::channel<std::string> strings(10);
	std::string s = text;
	auto p = std::make_unique<int>(2);

	CHECK(ch.send(std::make_unique<int>(1)));
	CHECK(!ch.try_send(std::move(p)) && *p == 2);
	CHECK(ch.send_for(std::move(p), SHORT).timed_out() && *p == 2);
	CHECK(**ch.recv() == 1 && ch.send(std::move(p)) && !p);
	CHECK(ch.recv(p) && *p == 2 && ch.send(std::move(p))); /* is left */

	CHECK(strings.send(s) && strings.send(std::move(s)) && strings.send("x"));
	CHECK(strings.recv() == text && strings.recv(s) && s == text); /* one is left */
}

static void test_aligned()
{
	ipcwait::channel<wide> bytes(50);
	ipcwait::channel<wide_node> nodes(50);

	for (int i = 0; i < 50; i++)
		CHECK(bytes.send({ i }) && nodes.send(wide_node(i)));
	for (int i = 0; i < 25; i++)
		CHECK(bytes.recv()->value == i && nodes.recv()->value == i);
}

static void test_close()
{
	ipcwait::channel<std::string> ch(5);
	std::string s;

	CHECK(ch.send(text) && ch.close() && !ch.close());
	CHECK(ch.send(text).closed() && ch.try_send(text).closed());
	CHECK(ch.send_for(text, LONG).closed());
	CHECK(ch.recv(s) && s == text);
	CHECK(ch.recv(s).closed() && ch.try_recv(s).closed() && !ch.recv());
	CHECK(fails_with(EINVAL, [] { ipcwait::channel<int> wrong(~UINT64_C(0)); }));
	CHECK(fails_with(EINVAL, [] { ipcwait::channel<counted> wrong(~UINT64_C(0)); }));
}

static void test_throws()
{
	ipcwait::channel<counted> ch(2);
	counted x(1), y(2);

	CHECK(burns(1, [&] { ch.send(x); }) &&
	      burns(1, [&] { ch.try_send(std::move(x)); }));
	CHECK(ch.empty() && x.value() == 1 && alive == 2);
	CHECK(ch.send(x) && ch.send(y) && alive == 4);
	CHECK(burns(1, [&] { ch.recv(x); }) && alive == 3);
	CHECK(burns(1, [&] { ch.recv(); }) && alive == 2 && ch.empty());
}

static void test_handle_moves()
{
	ipcwait::channel<counted> a(5), c(5);

	CHECK(a.send(counted(1)) && a.send(counted(2)) && c.send(counted(3)));
	ipcwait::channel<counted> b(std::move(a));
	c = std::move(b);
	CHECK(alive == 2 && c.recv()->value() == 1);
}

template <class T> static void test_threads(std::uint64_t capacity)
{
	constexpr int senders = 3, receivers = 3, each = 5000;
	ipcwait::channel<T> ch(capacity);
	std::atomic<long> sum{ 0 };
	std::vector<std::thread> makers, takers;

	for (int t = 0; t < receivers; t++)
		takers.emplace_back([&] {
			for (T &x : ch) {
				if constexpr (std::is_same_v<T, int>)
					sum += x;
				else
					sum += x.value();
			}
		});
	for (int t = 0; t < senders; t++)
		makers.emplace_back([&] {
			for (int i = 1; i <= each; i++)
				CHECK(ch.send(T(i)));
		});
	for (auto &t : makers)
		t.join();
	ch.close();
	for (auto &t : takers)
		t.join();
	CHECK(sum == senders * (each * (each + 1L) / 2));
}

static void test_select()
{
	ipcwait::channel<int> numbers(1);
	ipcwait::channel<double> fractions;
	int i = 0;
	const int out = 7;
	double d = 0;

	CHECK(ipcwait::try_select(numbers.receiving(i), fractions.receiving(d)).index ==
	      -1);
	CHECK(ipcwait::select_for(SHORT, fractions.receiving(d)).how.timed_out());
	CHECK(ipcwait::select(fractions.receiving(d), numbers.sending(out)).index == 1);
	auto s = ipcwait::select(fractions.receiving(d), numbers.receiving(i));
	CHECK(s.index == 1 && s.how && i == 7);
	std::thread other([&] { CHECK(fractions.send(0.5)); });
	s = ipcwait::select(fractions.receiving(d), numbers.receiving(i));
	CHECK(s.index == 0 && s.how && d == 0.5);
	other.join();
	numbers.close();
	s = ipcwait::select(fractions.receiving(d), numbers.receiving(i));
	CHECK(s.index == 1 && s.how.closed());
}

static void test_select_until()
{
	ipcwait::channel<int> a(1), b(1);
	int i = 0;
	auto past = std::chrono::steady_clock::now() - LONG;

	CHECK(ipcwait::select_until(past, a.receiving(i)).how.timed_out());
	step_clock::begin();
	auto s = ipcwait::select_until(step_clock::in(20), a.receiving(i), b.receiving(i));
	CHECK(s.index == -1 && s.how.timed_out() && step_clock::passed(20));
	step_clock::begin([&](int step) {
		if (step == 9)
			CHECK(b.send(5));
	});
	s = ipcwait::select_until(step_clock::in(20), a.receiving(i), b.receiving(i));
	CHECK(s.index == 1 && s.how && i == 5 && !step_clock::passed(20));
	CHECK(b.send(6) && ipcwait::select_until(past, b.receiving(i)).how && i == 6);
	auto never = std::chrono::system_clock::time_point::max();
	const int out = 7;
	CHECK(ipcwait::select_until(never, a.sending(out)).index == 0);
}

/* As many cases as the program has at the time. */
static void test_select_array()
{
	constexpr std::size_t many = 20;
	std::vector<ipcwait::channel<std::size_t>> channels;
	std::vector<ipcwait_channel_case> cases;
	std::size_t i = 0;

	for (std::size_t k = 0; k < many; k++) {
		channels.emplace_back(1);
		cases.push_back(channels.back().receiving(i));
	}
	cases[3].channel = nullptr;
	CHECK(ipcwait::try_select(cases.data(), many).index == -1);
	CHECK(ipcwait::select_for(SHORT, cases.data(), many).how.timed_out());
	CHECK(ipcwait::select_until(std::chrono::system_clock::now() + SHORT, cases.data(),
				    many)
		      .how.timed_out());
	for (std::size_t k = 4; k < many; k++) {
		CHECK(channels[k].send(k));
		auto s = ipcwait::select(cases.data(), many);
		CHECK(s.index == static_cast<int>(k) && s.how && i == k);
	}
	for (std::size_t n : { std::size_t(0), std::size_t(IPCWAIT_WAIT_ANY_MAX + 1),
			       (std::size_t(1) << 32) + 1 })
		CHECK(fails_with(EINVAL, [&] { ipcwait::select(cases.data(), n); }));
}

static bool readable(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 0) == 1;
}

static void test_eventfd()
{
	ipcwait::channel<std::string> ch(100);
	std::vector<std::string> in(80, text), out;
	int fd = ch.eventfd();

	CHECK(fd >= 0 && ch.eventfd() == fd);
	CHECK(!ch.try_recv() && !readable(fd));
	CHECK(ch.send(text) && readable(fd) && ch.try_recv() && readable(fd));
	CHECK(!ch.try_recv() && !readable(fd));
	/* In bulk: the call that finds nothing makes it unreadable. */
	CHECK(ch.send_bulk(in.begin(), 80) == 80 && readable(fd));
	CHECK(ch.try_recv_bulk(std::back_inserter(out), 200) == 80 && in == out);
	CHECK(ch.try_recv_bulk(std::back_inserter(out), 1) == 0 && !readable(fd));
	CHECK(ch.send(text) && readable(fd) && ch.recv() && readable(fd));
	CHECK(ch.try_recv_bulk(std::back_inserter(out), 1) == 0 && !readable(fd));
	ch.close();
	CHECK(readable(fd));
}

int main()
{
	test_values();
	test_objects();
	test_aligned();
	test_close();
	CHECK(alive == 0);
	test_throws();
	CHECK(alive == 0);
	test_handle_moves();
	CHECK(alive == 0);
	test_threads<int>(0);
	test_threads<int>(16);
	test_threads<counted>(0);
	test_threads<counted>(16);
	CHECK(alive == 0);
	test_select();
	test_select_until();
	test_select_array();
	test_eventfd();
	return 0;
}
