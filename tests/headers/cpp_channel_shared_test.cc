/* SPDX-License-Identifier: MIT */
/* <ipcwait/channel_shared.hpp>: elements go from one process to another. */
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <numeric>
#include <sys/wait.h>
#include <type_traits>
#include <vector>

#include <ipcwait/channel_shared.hpp>

#include "cpp_check.hpp"
#include "cpp_clock.hpp"

struct job {
	int number;
	char name[60];
};

using numbers = ipcwait::shared_channel<int>;
using jobs = ipcwait::shared_channel<job>;

static_assert(!std::is_copy_constructible_v<jobs> && !std::is_copy_assignable_v<jobs>);
static_assert(std::is_nothrow_move_constructible_v<jobs> &&
	      std::is_nothrow_move_assignable_v<jobs>);

/* What @child checks it checks in a process of its own. */
template <class F> static pid_t in_child(F child)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		child();
		_exit(0);
	}
	return pid;
}

static void await(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void test_one_process()
{
	numbers a = numbers::anonymous(3), b = numbers::attach(a.fd());
	int x = 0, more[] = { 1, 2, 3, 4 };

	CHECK(b.fd() == -1 && (fcntl(a.fd(), F_GETFD) & FD_CLOEXEC));
	CHECK(!b.try_recv() && a.send(5) && b.recv() == 5);
	CHECK(a.try_send_bulk(more, 4) == 3 && b.size_approx() == 3);
	auto r = a.try_send(4);
	CHECK(!r && !r.closed() && a.send_for(4, SHORT).timed_out());
	CHECK(a.send_bulk_until(more, 4, std::chrono::system_clock::now() + SHORT) == 0);
	CHECK(b.recv_bulk(more, 2) == 2 && more[1] == 2 && b.recv_for(x, LONG) && x == 3);
	step_clock::begin();
	CHECK(b.recv_until(x, step_clock::in(20)).timed_out() && step_clock::passed(20));
	CHECK(a.stats().lost == 0 && a.stats().recovered == 0);

	const int out = 6;
	CHECK(ipcwait::try_select(b.receiving(x)).index == -1);
	CHECK(ipcwait::select(b.receiving(x), a.sending(out)).index == 1);
	CHECK(ipcwait::select(b.receiving(x)).how && x == 6);
	CHECK(a.send(7) && a.close() && !b.close() && a.send(8).closed());
	CHECK(b.recv() == 7 && !b.recv() && a.recv_bulk(&x, 1) == 0);
}

static void test_files()
{
	int fd = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0 && !numbers::try_attach(fd));
	CHECK(fails_with(EAGAIN, [&] { numbers::attach(fd); }));
	CHECK(fails_with(EINVAL, [&] { numbers::create(fd, 0); }));
	CHECK(fails_with(EINVAL, [] { numbers::anonymous(0); }));
	CHECK(fails_with(EBADF, [] { numbers::attach(-1); }));
	{
		numbers ch = numbers::create(fd, 10);

		CHECK(ch.fd() == -1 && ch.send(1));
		CHECK(fails_with(EEXIST, [&] { numbers::create(fd, 10); }));
		/* What is taken out would be larger than there is room for. */
		CHECK(fails_with(EBADMSG,
				 [&] { ipcwait::shared_channel<char>::attach(fd); }));
		CHECK(fails_with(EBADMSG, [&] { jobs::try_attach(fd); }));
	}
	CHECK(is_open(fd) && numbers::try_attach(fd)->recv() == 1);
	close(fd);
}

static void test_handle_moves()
{
	numbers a = numbers::anonymous(3);
	int fd = a.fd();

	CHECK(a.send(1));
	numbers b(std::move(a));
	CHECK(b.fd() == fd && is_open(fd) && b.recv() == 1);
	{
		numbers c = numbers::anonymous(3);
		int other = c.fd();

		CHECK(c.send(2));
		b = std::move(c);
		CHECK(b.fd() == other && b.recv() == 2 && !is_open(fd));
	}
	CHECK(is_open(b.fd()));
	fd = b.fd();
	{
		numbers d(std::move(b));
	}
	CHECK(!is_open(fd));
}

/* Elements of the largest size, by their bytes. */
static void test_large()
{
	struct page {
		unsigned char bytes[100000];
	};
	auto ch = ipcwait::shared_channel<page>::anonymous(2);
	auto p = std::make_unique<page>();

	p->bytes[99999] = 7;
	CHECK(ch.send_bulk(p.get(), 1) == 1 && ch.recv()->bytes[99999] == 7);
}

static void answer(int questions, int answers)
{
	jobs in = jobs::attach(questions);
	numbers out = numbers::attach(answers);

	for (job &j : in)
		CHECK(out.send(2 * j.number) && !strcmp(j.name, "job"));
	CHECK(out.close());
}

/* The child attaches; what it has inherited does not work. */
static void test_two_processes()
{
	constexpr int many = 3000;
	jobs questions = jobs::anonymous(10);
	numbers answers = numbers::anonymous(100);
	job j = { 0, "job" };
	long sum = 0;

	pid_t pid = in_child([&] {
		CHECK(fails_with(EPERM, [&] { questions.recv(); }));
		CHECK(fails_with(EPERM, [&] { answers.send(1); }));
		CHECK(!answers.close());
		answer(questions.fd(), answers.fd());
	});
	pid_t asker = in_child([&] {
		jobs own = jobs::attach(questions.fd());

		for (j.number = 1; j.number <= many; j.number++)
			CHECK(own.send(j));
		CHECK(own.close());
	});
	std::vector<int> some(64);
	while (std::size_t n = answers.recv_bulk(some.begin(), some.size()))
		sum += std::accumulate(some.begin(),
				       some.begin() + static_cast<std::ptrdiff_t>(n), 0L);
	await(asker);
	await(pid);
	CHECK(sum == many * (many + 1L));
}

int main()
{
	test_one_process();
	test_files();
	test_handle_moves();
	test_large();
	test_two_processes();
	return 0;
}
