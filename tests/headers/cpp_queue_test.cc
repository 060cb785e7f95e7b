/* SPDX-License-Identifier: MIT */
/* <ipcwait/queue.hpp>: what goes in comes out, and is constructed and destroyed once. */
#include <array>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <ipcwait/queue.hpp>

#include "cpp_elements.hpp"

using namespace std::chrono_literals;

using owners = ipcwait::queue<std::unique_ptr<int>>;

static_assert(!std::is_copy_constructible_v<owners> && !std::is_copy_assignable_v<owners>);
static_assert(std::is_nothrow_move_constructible_v<owners> &&
	      std::is_nothrow_move_assignable_v<owners>);

static const std::string text = "a text that is too long to lie in the string itself";

static void test_values()
{
	ipcwait::queue<int> q;
	int x = 0;

	CHECK(q.empty() && !q.try_pop(x) && !q.try_pop());
	for (int i = 1; i <= 3; i++)
		CHECK(q.push(i) && q.size_approx() == static_cast<std::size_t>(i));
	CHECK(q.try_pop(x) && x == 1);
	CHECK(q.pop(x) && x == 2);
	CHECK(q.pop() == 3);
	CHECK(q.emplace(4) && q.unsafe_size() == 1 && q.try_pop() == 4 && q.empty());
	CHECK(q.try_push(5) && q.try_emplace(6) && q.pop() == 5 && q.pop() == 6);
	CHECK(q.native_handle());

	ipcwait::queue<rigid> stiff;
	CHECK(stiff.emplace(1, 2) && stiff.pop()->sum == 3);

	ipcwait::queue<std::array<char, 60000>> large;
	auto page = std::make_unique<std::array<char, 60000>>();
	page->fill('x');
	CHECK(large.push(*page) && large.pop()->back() == 'x');

	ipcwait::queue<padded> tight;
	behind b;
	CHECK(tight.emplace(5, 'y') && tight.pop(b) && b.sum() == 126 && b.tail == 7);
}

static void test_move_only()
{
	owners q;
	std::unique_ptr<int> p;

	CHECK(q.push(std::make_unique<int>(1)) && q.emplace(new int(2)));
	CHECK(q.push(nullptr));
	CHECK(q.try_pop(p) && *p == 1);
	CHECK(**q.pop() == 2);
	CHECK(q.pop(p) && !p);

	q.close();
	p = std::make_unique<int>(3);
	CHECK(q.push(std::move(p)).closed() && *p == 3);
	CHECK(!q.enqueue(std::move(p)) && *p == 3);
}

static void test_strings()
{
	ipcwait::queue<std::string> q;
	std::string s = text;

	CHECK(q.push(s) && s == text);
	CHECK(q.push(std::move(s)));
	CHECK(q.emplace(100000, 'x'));
	CHECK(q.pop() == text && q.pop() == text && q.pop()->size() == 100000);
	CHECK(q.push(text) && q.push(text)); /* are left */
}

static void test_aligned()
{
	ipcwait::queue<wide> bytes;
	ipcwait::queue<wide_node> nodes;

	for (int i = 0; i < 100; i++)
		CHECK(bytes.push({ i }) && nodes.emplace(i));
	for (int i = 0; i < 50; i++)
		CHECK(bytes.pop()->value == i && nodes.pop()->value == i);
}

static void test_close()
{
	ipcwait::queue<std::string> q;
	std::string s;

	CHECK(!q.try_pop(s) && !q.try_pop(s).closed());
	CHECK(!q.pop_for(s, SHORT) && q.pop_for(s, SHORT).timed_out());
	CHECK(q.push(text));
	CHECK(q.close() && !q.close());
	CHECK(!q.push(text) && q.push(s).closed() && !q.emplace("y") && !q.enqueue(text));
	CHECK(q.try_push(text).closed() && q.try_emplace("z").closed());
	CHECK(q.push_bulk(&text, 1) == 0 && !q.enqueue_bulk(&text, 1));
	CHECK(q.try_push_bulk(&text, 1) == 0);
	CHECK(q.pop(s) && s == text);
	CHECK(q.pop(s).closed() && q.try_pop(s).closed() && q.pop_for(s, LONG).closed());
	CHECK(!q.pop() && !q.wait_dequeue(s) && q.pop_bulk(&s, 1) == 0);
}

static void test_bound()
{
	ipcwait::queue<std::unique_ptr<int>> q({ 2, IPCWAIT_QUEUE_ONE_CONSUMER });
	auto p = std::make_unique<int>(3);

	CHECK(q.emplace(new int(1)) && q.emplace(new int(2)));
	auto r = q.push(std::move(p));
	CHECK(!r && !r.closed() && !r.timed_out() && *p == 3);
	CHECK(!q.try_push(std::move(p)) && *p == 3 && !q.try_emplace(nullptr));
	CHECK(!q.try_enqueue(std::move(p)) && *p == 3);
	CHECK(**q.pop() == 1 && q.try_push(std::move(p)) && !p);
	CHECK(fails_with(EINVAL, [] { ipcwait::queue<int> wrong({ 0, 1u << 31 }); }));
	CHECK(fails_with(EINVAL, [] { ipcwait::queue<counted> wrong({ 0, 1u << 31 }); }));
}

static void test_deadlines()
{
	ipcwait::queue<int> q;
	int x = 0;

	CHECK(!q.pop_until(x, std::chrono::steady_clock::now() + SHORT));
	CHECK(q.pop_until(x, std::chrono::system_clock::now() + SHORT).timed_out());
	CHECK(!q.pop_until(std::chrono::system_clock::now() - 1h) && !q.pop_for(-1h));
	CHECK(!q.wait_dequeue_timed(x, SHORT) && !q.wait_dequeue_timed(x, 100));
	CHECK(q.pop_bulk_for(&x, 1, SHORT) == 0);
	CHECK(q.pop_bulk_until(&x, 1, std::chrono::system_clock::now() + SHORT) == 0);
	for (int i = 1; i <= 6; i++)
		q.push(i);
	CHECK(q.pop_until(x, std::chrono::steady_clock::time_point::max()) && x == 1);
	CHECK(q.pop_for(x, std::chrono::hours::max()) && x == 2);
	CHECK(q.pop_for(LONG) == 3 && q.pop_for(-1h) == 4);
	CHECK(q.wait_dequeue_timed(x, -1) && x == 5);
	CHECK(q.pop_bulk_for(&x, 9, LONG) == 1 && x == 6);
}

/* More than a batch, over more than a segment. */
static void test_bulk()
{
	constexpr std::size_t many = 3000;
	ipcwait::queue<std::string> q;
	ipcwait::queue<int> numbers;
	std::vector<std::string> in(many), out;
	std::vector<int> all(many), some(many + 1);

	for (std::size_t i = 0; i < many; i++)
		in[i] = text + std::to_string(i);
	auto copy = in;
	CHECK(q.push_bulk(std::make_move_iterator(copy.begin()), many) == many);
	CHECK(copy[0].empty() && copy[many - 1].empty());
	CHECK(q.try_dequeue_bulk(std::back_inserter(out), 100) == 100);
	CHECK(q.pop_bulk(std::back_inserter(out), many) == many - 100);
	CHECK(in == out && q.try_pop_bulk(out.begin(), 5) == 0);
	CHECK(q.push_bulk(in.begin(), 0) == 0 && q.pop_bulk(out.begin(), 0) == 0);
	CHECK(q.enqueue_bulk(in.begin(), many)); /* are left */

	std::iota(all.begin(), all.end(), 0);
	CHECK(numbers.enqueue_bulk(all.begin(), many) && numbers.push(-1));
	CHECK(numbers.wait_dequeue_bulk_timed(some.begin(), many, LONG) == many);
	CHECK(std::equal(all.begin(), all.end(), some.begin()));
	CHECK(numbers.wait_dequeue_bulk(some.begin(), many) == 1 && some[0] == -1);
}

static void test_moodycamel()
{
	ipcwait::queue<std::string> q;
	std::string s;
	bool r = q.enqueue(text);

	CHECK(r && q.enqueue(std::string("b")) && q.try_enqueue(text) &&
	      q.try_enqueue(std::string("d")));
	CHECK(q.size_approx() == 4);
	CHECK(q.try_dequeue(s) && s == text);
	CHECK(q.wait_dequeue(s) && s == "b");
	CHECK(q.wait_dequeue_timed(s, 1000000) && s == text);
	CHECK(q.wait_dequeue_timed(s, LONG) && s == "d");
}

static void test_handle_moves()
{
	ipcwait::queue<counted> a;

	CHECK(a.emplace(1) && a.emplace(2));
	ipcwait::queue<counted> b(std::move(a)), c;
	CHECK(b.pop()->value() == 1);
	CHECK(c.emplace(3));
	c = std::move(b);
	CHECK(alive == 1 && c.pop()->value() == 2);
	a = std::move(c);
	CHECK(alive == 0 && a.emplace(4) && a.pop()->value() == 4);
}

/* What throws: the queue is as it was, or has lost just what was being moved out. */
static void test_throws()
{
	{
		ipcwait::queue<counted> q;
		counted x(1), y(2);

		CHECK(burns(1, [&] { q.push(x); }) && x.value() == 1);
		CHECK(burns(1, [&] { q.push(std::move(x)); }) && x.value() == 1);
		CHECK(burns(1, [&] { q.emplace(3); }) && burns(1, [&] { q.enqueue(x); }));
		CHECK(q.empty() && alive == 2);

		CHECK(q.push(x) && q.push(y) && q.push(x) && alive == 5);
		CHECK(burns(1, [&] { q.pop(y); }) && y.value() == 2 && alive == 4);
		CHECK(burns(1, [&] { q.pop(); }) && alive == 3);
		CHECK(q.pop(y) && y.value() == 1 && q.empty());

		q.close();
		CHECK(burns(2, [&] { q.push(std::move(x)); }) && q.empty() && alive == 2);
	}
	CHECK(alive == 0);
}

static void test_bulk_throws()
{
	{
		ipcwait::queue<counted> q;
		std::vector<counted> in(200);

		CHECK(burns(1, [&] { q.push_bulk(in.begin(), 200); }) && q.empty());
		/* What was copied before is in. */
		std::size_t n = 0;
		CHECK(!burns(129, [&] { n = q.push_bulk(in.begin(), 200); }));
		CHECK(n == 128 && q.size_approx() == 128 && alive == 328);
		/* The first batch is taken and gone. */
		CHECK(burns(10, [&] { q.pop_bulk(in.begin(), 128); }));
		CHECK(q.size_approx() == 64 && alive == 264);
		CHECK(q.pop_bulk(in.begin(), 200) == 64 && alive == 200);

		CHECK(q.push_bulk(in.begin(), 100) == 100);
		q.close();
		CHECK(q.push_bulk(in.begin(), 100) == 0 && alive == 300);
	}
	CHECK(alive == 0);

	ipcwait::queue<counted> two({ 2, 0 });
	std::vector<counted> in(5);
	CHECK(two.try_push_bulk(in.begin(), 5) == 2 && alive == 7);
	CHECK(!two.enqueue_bulk(in.begin(), 1) && alive == 7);
}

/* What was not added is in its place. */
static void test_bulk_moves()
{
	owners two({ 2, 0 });
	std::vector<std::unique_ptr<int>> in, out;

	for (int i = 0; i < 5; i++)
		in.push_back(std::make_unique<int>(i));
	auto first = std::make_move_iterator(in.begin());
	CHECK(two.push_bulk(first, 5) == 2 && !in[1] && *in[2] == 2 && *in[4] == 4);
	CHECK(!two.try_enqueue_bulk(first + 2, 3) && *in[2] == 2 && *in[4] == 4);
	CHECK(two.wait_dequeue_bulk_timed(std::back_inserter(out), 5, 1000) == 2);
	CHECK(two.try_enqueue_bulk(first + 2, 2) && !in[3] && *in[4] == 4);
	CHECK(two.wait_dequeue_bulk_timed(std::back_inserter(out), 5, -1) == 2);
	std::thread other([&two] {
		std::this_thread::sleep_for(SHORT);
		two.push(nullptr);
	});
	CHECK(two.wait_dequeue_bulk_timed(out.begin(), 5, -1) == 1);
	other.join();
	CHECK(*out[3] == 3 && two.wait_dequeue_bulk_timed(out.begin(), 5, 1000) == 0);
	two.close();
	CHECK(!two.enqueue_bulk(first + 4, 1) && *in[4] == 4);
}

template <class T> static int number_of(const T &x)
{
	if constexpr (std::is_same_v<T, int>)
		return x;
	else
		return x.value();
}

template <class T>
static void consume(ipcwait::queue<T> &q, int way, std::atomic<long> &sum)
{
	if (way == 0) {
		std::vector<T> some(7);

		while (std::size_t n = q.pop_bulk(some.begin(), some.size()))
			for (std::size_t k = 0; k < n; k++)
				sum += number_of(some[k]);
	} else {
		while (auto x = q.pop())
			sum += number_of(*x);
	}
}

template <class T> static void test_threads()
{
	constexpr int producers = 3, consumers = 3, each = 20000;
	ipcwait::queue<T> q;
	std::atomic<long> sum{ 0 };
	std::vector<std::thread> makers, takers;

	for (int t = 0; t < consumers; t++)
		takers.emplace_back([&, t] { consume(q, t, sum); });
	for (int t = 0; t < producers; t++)
		makers.emplace_back([&] {
			for (int i = 1; i <= each; i++)
				CHECK(q.emplace(i));
		});
	for (auto &t : makers)
		t.join();
	q.close();
	for (auto &t : takers)
		t.join();
	CHECK(sum == producers * (each * (each + 1L) / 2));
}

/* As in docs/guide/choosing.md. */
struct request {
	std::string name;
};

static void test_guide()
{
	ipcwait::queue<std::unique_ptr<request>> requests;
	int served = 0;

	std::thread server([&] {
		while (auto r = requests.pop())
			served += (*r)->name == text;
	});
	requests.push(std::make_unique<request>(request{ text }));
	requests.close();
	server.join();
	CHECK(served == 1);
}

int main()
{
	test_values();
	test_move_only();
	test_strings();
	test_aligned();
	test_close();
	test_bound();
	test_deadlines();
	test_bulk();
	test_bulk_moves();
	test_moodycamel();
	test_handle_moves();
	CHECK(alive == 0);
	test_throws();
	test_bulk_throws();
	CHECK(alive == 0);
	test_threads<int>();
	test_threads<counted>();
	CHECK(alive == 0);
	test_guide();
	return 0;
}
