/* SPDX-License-Identifier: MIT */
/* <ipcwait/spsc.hpp>: what goes in comes out, and is constructed and destroyed once. */
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <ipcwait/spsc.hpp>

#include "cpp_elements.hpp"

using namespace std::chrono_literals;

static const std::string text = "a text that is too long to lie in the string itself";

static void test_values()
{
	ipcwait::spsc_queue<int> q(2);
	int x = 0;

	CHECK(q.empty() && !q.try_pop(x) && !q.pop_front() && !q.front());
	CHECK(q.try_push(1) && q.push(2) && q.size_approx() == 2);
	auto r = q.try_push(3);
	CHECK(!r && !r.closed() && !r.timed_out() && !q.enqueue(3));
	CHECK(q.push_for(3, SHORT).timed_out());
	CHECK(q.push_until(3, std::chrono::system_clock::now() + SHORT).timed_out());
	CHECK(*q.front() == 1 && q.pop_front());
	CHECK(q.pop(x) && x == 2 && !q.pop_for(SHORT) && q.pop_for(x, SHORT).timed_out());
	CHECK(q.try_emplace(4) && q.emplace(5) && q.pop() == 4 && q.try_pop() == 5);
	CHECK(q.try_enqueue(6) && q.try_dequeue(x) && x == 6);
	CHECK(q.push_until(7, std::chrono::steady_clock::now() + LONG) &&
	      q.push_for(8, LONG));
	CHECK(q.wait_dequeue_timed(x, 1000000) && x == 7 && q.wait_dequeue(x) && x == 8);

	ipcwait::spsc_queue<padded> tight;
	behind b;
	CHECK(tight.emplace(5, 'y') && tight.pop(b) && b.sum() == 126 && b.tail == 7);
}

static void test_objects()
{
	ipcwait::spsc_queue<std::unique_ptr<int>> q(1);
	ipcwait::spsc_queue<std::string> endless;
	auto p = std::make_unique<int>(2);

	CHECK(q.emplace(new int(1)));
	CHECK(!q.try_push(std::move(p)) && *p == 2);
	CHECK(q.push_for(std::move(p), SHORT).timed_out() && *p == 2);
	CHECK(**q.front() == 1 && **q.front() == 1 && q.pop_front() && !q.front());
	CHECK(q.try_push(std::move(p)) && !p && q.pop(p) && *p == 2);
	CHECK(q.push(std::move(p))); /* is left */

	for (int i = 0; i < 3000; i++)
		CHECK(endless.push(text + std::to_string(i)));
	std::string first = std::move(*endless.front());
	CHECK(first == text + "0" && endless.pop_front() && *endless.front() == text + "1");
}

static void test_aligned()
{
	ipcwait::spsc_queue<wide> bytes(100);
	ipcwait::spsc_queue<wide_node> nodes;

	for (int i = 0; i < 100; i++)
		CHECK(bytes.push({ i }) && nodes.emplace(i));
	for (int i = 0; i < 50; i++)
		CHECK(bytes.pop()->value == i && nodes.front()->value == i &&
		      nodes.pop_front());

	struct alignas(64) line {
		int value;
	};
	ipcwait::spsc_queue<line> lines(3);
	for (int i = 0; i < 10; i++) {
		CHECK(lines.push({ i }));
		CHECK(reinterpret_cast<std::uintptr_t>(lines.front()) % 64 == 0);
		CHECK(lines.front()->value == i && lines.pop_front());
	}
}

static void test_close()
{
	ipcwait::spsc_queue<std::string> q(10);
	std::string s;

	CHECK(q.push(text) && q.close() && !q.close());
	CHECK(q.push(text).closed() && q.try_push(text).closed() && !q.emplace("x"));
	CHECK(q.try_push_bulk(&text, 1) == 0 && !q.enqueue_bulk(&text, 1));
	CHECK(q.pop(s) && s == text);
	CHECK(q.pop(s).closed() && q.try_pop(s).closed() && !q.pop());
	CHECK(fails_with(EINVAL, [] { ipcwait::spsc_queue<int> wrong(~UINT64_C(0)); }));
	CHECK(fails_with(EINVAL, [] { ipcwait::spsc_queue<counted> wrong(1, 1u << 31); }));
}

static void test_bulk()
{
	constexpr std::size_t many = 1000;
	ipcwait::spsc_queue<counted> q(many);
	std::vector<counted> in, out;

	for (std::size_t i = 0; i < many + 10; i++)
		in.emplace_back(static_cast<int>(i));
	CHECK(q.try_push_bulk(in.begin(), many + 10) == many);
	CHECK(!q.enqueue_bulk(in.begin(), 1));
	CHECK(q.try_pop_bulk(std::back_inserter(out), 100) == 100);
	CHECK(q.try_dequeue_bulk(std::back_inserter(out), many) == many - 100);
	CHECK(q.try_pop_bulk(out.begin(), 1) == 0);
	for (std::size_t i = 0; i < many; i++)
		CHECK(out[i].value() == static_cast<int>(i));
	CHECK(q.enqueue_bulk(in.begin(), 20)); /* are left */
}

/* The forms that wait. What was not pushed is in its place. */
static void test_bulk_waits()
{
	ipcwait::spsc_queue<std::unique_ptr<int>> q(3);
	std::vector<std::unique_ptr<int>> in, out;

	for (int i = 0; i < 200; i++)
		in.push_back(std::make_unique<int>(i));
	auto first = std::make_move_iterator(in.begin());
	CHECK(q.try_push_bulk(first, 4) == 3 && !in[2] && *in[3] == 3);
	CHECK(!q.try_enqueue_bulk(first + 3, 1) && *in[3] == 3);
	CHECK(q.push_bulk_for(first + 3, 2, SHORT) == 0 && *in[3] == 3 && *in[4] == 4);
	CHECK(q.pop_bulk(std::back_inserter(out), 2) == 2 && *out[1] == 1);
	CHECK(q.push_bulk_until(first + 3, 4, std::chrono::system_clock::now() + SHORT) ==
	      2);
	CHECK(!in[4] && *in[5] == 5 && *in[6] == 6);
	CHECK(q.pop_bulk_for(std::back_inserter(out), 9, LONG) == 3 && *out[4] == 4);
	CHECK(q.pop_bulk_for(out.begin(), 9, SHORT) == 0);
	CHECK(q.wait_dequeue_bulk_timed(out.begin(), 9, 1000) == 0);

	std::thread producer([&] {
		CHECK(q.push_bulk(first + 5, 190) == 190);
		CHECK(q.push_bulk(first + 195, 0) == 0 && *in[195] == 195);
		q.close();
	});
	/* The producer finds it full, and must wait. */
	while (q.size_approx() < 3)
		std::this_thread::yield();
	std::this_thread::sleep_for(SHORT);
	while (q.wait_dequeue_bulk(std::back_inserter(out), 2))
		;
	producer.join();
	CHECK(out.size() == 195);
	for (int i = 0; i < 195; i++)
		CHECK(*out[static_cast<std::size_t>(i)] == i);
	CHECK(q.push_bulk(first + 195, 5) == 0 && *in[195] == 195);
	CHECK(q.pop_bulk_until(out.begin(), 9, std::chrono::steady_clock::now() + LONG) ==
	      0);
}

/* Who waits gets what is there when it wakes, and not just the first. */
static void test_bulk_after_wait()
{
	ipcwait::spsc_queue<std::string> q(10);
	std::vector<std::string> in(5, text), out;

	for (int i = 0; i < 200; i++) {
		std::thread producer([&] { CHECK(q.try_push_bulk(in.begin(), 5) == 5); });
		CHECK(q.pop_bulk(std::back_inserter(out), 9) == 5);
		producer.join();
	}
	CHECK(out == std::vector<std::string>(1000, text));
}

static void test_throws()
{
	ipcwait::spsc_queue<counted> q(2);
	counted x(1), y(2);

	CHECK(burns(1, [&] { q.push(x); }) && burns(1, [&] { q.try_push(std::move(x)); }));
	CHECK(q.empty() && x.value() == 1 && alive == 2);
	CHECK(q.push(x) && q.push(y) && alive == 4);
	CHECK(burns(2, [&] { q.try_push(std::move(y)); }) && alive == 4);
	CHECK(burns(1, [&] { q.pop(x); }) && alive == 3);
	CHECK(burns(1, [&] { q.pop(); }) && alive == 2 && q.empty());
}

static void test_handle_moves()
{
	ipcwait::spsc_queue<counted> a(5), c(5);

	CHECK(a.emplace(1) && a.emplace(2) && c.emplace(3));
	ipcwait::spsc_queue<counted> b(std::move(a));
	c = std::move(b);
	CHECK(alive == 2 && c.pop()->value() == 1);
}

template <class T> static void test_threads(std::uint64_t capacity)
{
	constexpr int many = 100000;
	ipcwait::spsc_queue<T> q(capacity);
	int expected = 0;

	std::thread producer([&] {
		for (int i = 0; i < many; i++)
			CHECK(q.emplace(i));
		q.close();
	});
	while (auto x = q.pop()) {
		if constexpr (std::is_same_v<T, int>)
			CHECK(*x == expected++);
		else
			CHECK(x->value() == expected++);
	}
	producer.join();
	CHECK(expected == many);
}

int main()
{
	test_values();
	test_objects();
	test_aligned();
	test_close();
	test_bulk();
	test_bulk_waits();
	test_bulk_after_wait();
	CHECK(alive == 0);
	test_throws();
	CHECK(alive == 0);
	test_handle_moves();
	CHECK(alive == 0);
	test_threads<int>(64);
	test_threads<int>(0);
	test_threads<counted>(64);
	test_threads<counted>(0);
	CHECK(alive == 0);
	return 0;
}
