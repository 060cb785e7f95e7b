/* SPDX-License-Identifier: MIT */
/* <ipcwait/channel.hpp>, many elements at a time: what was not sent is where it was. */
#include <iterator>
#include <list>
#include <memory>
#include <numeric>
#include <pthread.h>
#include <string>
#include <thread>
#include <vector>

#include <ipcwait/channel.hpp>

#include "cpp_clock.hpp"
#include "cpp_elements.hpp"

static const std::string text = "a text that is too long to lie in the string itself";

using owner = std::unique_ptr<int>;

/* More than a batch. */
static void test_values()
{
	constexpr std::size_t many = 1000;
	ipcwait::channel<int> ch(many);
	std::vector<int> in(many + 10), out;

	std::iota(in.begin(), in.end(), 0);
	CHECK(ch.send_bulk(in.begin(), 0) == 0 && ch.recv_bulk(in.begin(), 0) == 0);
	CHECK(ch.try_recv_bulk(in.begin(), 5) == 0);
	CHECK(ch.send_bulk(in.begin(), 700) == 700);
	CHECK(ch.try_send_bulk(&in[700], 310) == 300 && ch.size_approx() == many);
	CHECK(ch.send_bulk_for(in.begin(), 1, SHORT) == 0);
	CHECK(ch.recv_bulk(std::back_inserter(out), 100) == 100);
	CHECK(ch.send_bulk_for(&in[many], 10, LONG) == 10);
	CHECK(ch.try_recv_bulk(std::back_inserter(out), 500) == 500);
	CHECK(ch.recv_bulk_until(std::back_inserter(out), many,
				 std::chrono::system_clock::now() + LONG) == 410);
	CHECK(in == out && ch.recv_bulk_for(out.begin(), 1, SHORT) == 0);
	ch.close();
	CHECK(ch.send_bulk(in.begin(), 3) == 0 && ch.recv_bulk(in.begin(), 3) == 0);
}

static std::vector<owner> owners(int n)
{
	std::vector<owner> all;

	for (int i = 0; i < n; i++)
		all.push_back(std::make_unique<int>(i));
	return all;
}

template <class Range> static void check_left(const Range &all, int sent)
{
	int i = 0;

	for (const owner &x : all) {
		CHECK(i < sent ? !x : x && *x == i);
		i++;
	}
}

static void test_move_only()
{
	ipcwait::channel<owner> ch(150);
	std::vector<owner> all = owners(200), out;
	auto first = std::make_move_iterator(all.begin());

	CHECK(ch.try_send_bulk(first, 200) == 150);
	check_left(all, 150);
	CHECK(ch.send_bulk_for(first + 150, 50, SHORT) == 0);
	check_left(all, 150);
	CHECK(ch.recv_bulk(std::back_inserter(out), 10) == 10 && *out[9] == 9);
	CHECK(ch.send_bulk_until(first + 150, 50,
				 std::chrono::steady_clock::now() + SHORT) == 10);
	check_left(all, 160);
	ch.close();
	CHECK(ch.send_bulk(first + 160, 40) == 0 && ch.try_send_bulk(first + 160, 40) == 0);
	check_left(all, 160);
	CHECK(ch.recv_bulk(std::back_inserter(out), 1000) == 150 && *out[159] == 159);

	std::vector<owner> some = owners(7);
	std::list<owner> listed;
	ipcwait::channel<owner> five(5);
	for (owner &x : some)
		listed.push_back(std::move(x));
	CHECK(five.try_send_bulk(std::make_move_iterator(listed.begin()), 7) == 5);
	check_left(listed, 5);
}

/* A copy leaves the source alone, sent or not. */
static void test_strings()
{
	ipcwait::channel<std::string> ch(3);
	std::vector<std::string> in(5, text), out(3);
	const char *const words[] = { "a", "b", "c", "d" };

	CHECK(ch.try_send_bulk(in.begin(), 5) == 3 && in[0] == text && in[4] == text);
	CHECK(ch.recv_bulk(out.begin(), 9) == 3 && out[2] == text);
	CHECK(ch.try_send_bulk(words, 4) == 3 && *ch.recv() == "a");
}

/* What can be read once. */
struct stream {
	using iterator_category = std::input_iterator_tag;
	using value_type = owner;
	using difference_type = std::ptrdiff_t;
	using pointer = owner *;
	using reference = owner &;

	owner &operator*() const
	{
		return (*of)[*at];
	}
	stream &operator++()
	{
		++*at;
		return *this;
	}
	std::vector<owner> *of;
	std::size_t *at;
};

/* Nothing goes back: what lies there now are others. */
static void test_stream()
{
	ipcwait::channel<owner> ch(3);
	std::vector<owner> all = owners(20);
	std::size_t at = 0;

	CHECK(ch.try_send_bulk(std::make_move_iterator(stream{ &all, &at }), 5) == 3);
	CHECK(at == 5);
	for (std::size_t i = 5; i < 20; i++)
		CHECK(*all[i] == static_cast<int>(i));
}

/* Only if none was sent is there an exception. */
static void test_throws()
{
	ipcwait::channel<counted> ch(200);
	std::vector<counted> in(200);

	for (int i = 0; i < 200; i++)
		in[static_cast<std::size_t>(i)] = counted(i);
	CHECK(burns(1, [&] { ch.send_bulk(in.begin(), 200); }));
	CHECK(alive == 200 && ch.empty());
	for (std::size_t sent : { 1u, 9u, 64u, 65u, 149u }) {
		std::size_t n = 0;

		CHECK(!burns(static_cast<int>(sent) + 1,
			     [&] { n = ch.send_bulk(in.begin(), 200); }));
		CHECK(n == sent && ch.size_approx() == sent &&
		      alive == 200 + static_cast<long>(sent));
		for (std::size_t i = 0; i < sent; i++)
			CHECK(ch.recv()->value() == static_cast<int>(i));
		CHECK(ch.empty() && alive == 200);
	}
}

static void test_moves_that_throw()
{
	ipcwait::channel<counted> ch(5);
	std::vector<counted> in;
	std::size_t n = 0;

	in.reserve(8);
	for (int i = 0; i < 8; i++)
		in.emplace_back(i);
	auto first = std::make_move_iterator(in.begin());

	/* The third does not go in. */
	CHECK(!burns(3, [&] { n = ch.send_bulk(first, 8); }) && n == 2 && alive == 10);
	CHECK(in[1].value() == -1 && in[2].value() == 2 && in[7].value() == 7);
	/* Of six that are left three go in, and the next but one does not go back. */
	CHECK(!burns(6 + 2, [&] { n = ch.try_send_bulk(first + 2, 6); }));
	CHECK(n == 3 && alive == 8 + 5);
	CHECK(in[4].value() == -1 && in[5].value() == 5 && in[6].value() == -1);
	/* And now none goes in. */
	CHECK(burns(2, [&] { n = ch.try_send_bulk(first + 5, 1); }) && alive == 13);
	for (int i = 0; i < 5; i++)
		CHECK(ch.try_recv()->value() == i);
	CHECK(alive == 8 && ch.empty());

	/* Two have arrived, three are gone with the one that threw. */
	std::vector<counted> out(5);
	for (int i = 0; i < 5; i++)
		CHECK(ch.send(counted(i)));
	CHECK(burns(3, [&] { ch.recv_bulk(out.begin(), 5); }) && alive == 8 + 5);
	CHECK(out[0].value() == 0 && out[1].value() == 1 && out[2].value() == 0);
	CHECK(ch.empty());
}

/* A thread that ends inside of an iterator. */
struct last_words {
	counted &operator*()
	{
		if (++count == 3)
			pthread_exit(nullptr);
		return x;
	}
	last_words &operator++()
	{
		return *this;
	}
	counted &x;
	int count = 0;
};

static void test_thread_exit()
{
	ipcwait::channel<counted> ch(5);
	counted x(1);

	std::thread([&] { ch.send_bulk(last_words{ x }, 5); }).join();
	CHECK(alive == 1 && ch.empty());
}

template <class T> static long number_of(const T &x)
{
	if constexpr (std::is_same_v<T, int>)
		return x;
	else
		return x.value();
}

/* What expires on our clock has not expired on another. */
template <class T> static void test_clock()
{
	ipcwait::channel<T> ch(2);
	const T in[] = { T(1), T(2), T(3) };
	std::vector<T> out(3);

	step_clock::begin();
	CHECK(ch.recv_bulk_until(out.begin(), 3, step_clock::in(20)) == 0);
	CHECK(step_clock::passed(20));
	step_clock::begin();
	CHECK(ch.send_bulk_until(in, 3, step_clock::in(20)) == 2);
	CHECK(step_clock::passed(20));
	CHECK(ch.try_recv_bulk(out.begin(), 3) == 2);
	step_clock::begin([&](int step) {
		if (step == 9)
			CHECK(number_of(*ch.recv()) == 1);
	});
	CHECK(ch.send_bulk_until(in, 3, step_clock::in(20)) == 3);
	CHECK(!step_clock::passed(20));
	CHECK(number_of(*ch.recv()) == 2 && number_of(*ch.recv()) == 3);
	step_clock::begin([&](int step) {
		if (step == 9)
			CHECK(ch.send(T(4)));
	});
	CHECK(ch.recv_bulk_until(out.begin(), 3, step_clock::in(20)) == 1);
	CHECK(number_of(out[0]) == 4);
	CHECK(!step_clock::passed(20));
}

static void test_rendezvous()
{
	ipcwait::channel<owner> ch;
	std::vector<owner> all = owners(3), out(3);
	auto first = std::make_move_iterator(all.begin());

	CHECK(ch.try_send_bulk(first, 3) == 0 && ch.send_bulk_for(first, 3, SHORT) == 0);
	CHECK(ch.try_recv_bulk(out.begin(), 3) == 0);
	check_left(all, 0);
	std::thread other([&] {
		for (std::size_t i = 0; i < 2;)
			i += ch.recv_bulk(&out[i], 2 - i);
		ch.close();
	});
	CHECK(ch.send_bulk(first, 3) == 2);
	other.join();
	check_left(all, 2);
	CHECK(*out[1] == 1);
}

template <class T> static void send_all(ipcwait::channel<T> &ch, int each, std::size_t some)
{
	std::vector<T> in;

	for (int i = 1; i <= each; i++)
		in.emplace_back(i);
	auto left = in.size();
	while (left) {
		std::size_t n = std::min(left, some);

		CHECK(ch.send_bulk(std::make_move_iterator(in.end()) -
					   static_cast<std::ptrdiff_t>(left),
				   n) == n);
		left -= n;
	}
}

template <class T>
static void recv_all(ipcwait::channel<T> &ch, std::size_t some, std::atomic<long> &sum)
{
	std::vector<T> out(some);

	while (std::size_t n = ch.recv_bulk(out.begin(), some))
		for (std::size_t i = 0; i < n; i++)
			sum += number_of(out[i]);
}

template <class T> static void test_threads(std::uint64_t capacity)
{
	constexpr int each = 3000;
	ipcwait::channel<T> ch(capacity);
	std::atomic<long> sum{ 0 };
	std::vector<std::thread> makers, takers;

	for (std::size_t some : { 1u, 7u, 100u }) {
		takers.emplace_back([&, some] { recv_all(ch, some, sum); });
		makers.emplace_back([&, some] { send_all(ch, each, some); });
	}
	for (auto &t : makers)
		t.join();
	ch.close();
	for (auto &t : takers)
		t.join();
	CHECK(sum == 3 * (each * (each + 1L) / 2));
}

int main()
{
	test_values();
	test_move_only();
	test_strings();
	test_stream();
	test_throws();
	CHECK(alive == 0);
	test_moves_that_throw();
	CHECK(alive == 0);
	test_thread_exit();
	CHECK(alive == 0);
	test_clock<int>();
	test_clock<counted>();
	CHECK(alive == 0);
	test_rendezvous();
	test_threads<int>(0);
	test_threads<int>(16);
	test_threads<counted>(0);
	test_threads<counted>(16);
	CHECK(alive == 0);
	return 0;
}
