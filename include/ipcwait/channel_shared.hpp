/* SPDX-License-Identifier: MIT */
/*
 * libipcwait for C++17: ipcwait::shared_channel<T>, the channel between processes of
 * <ipcwait/channel_shared.h>. T is trivially copyable, its bytes are what goes from one process to
 * another: no pointers, and the same T on both sides.
 *
 *	using jobs_channel = ipcwait::shared_channel<job>;
 *
 *	auto jobs = jobs_channel::anonymous(64);        // process A, which hands jobs.fd() on
 *	jobs.send(job{ 1 });
 *
 *	auto jobs = jobs_channel::attach(fd);           // process B
 *	while (auto j = jobs.recv())
 *		work(*j);
 *
 * An object is the part that one process takes in the channel; the channel is in the file, and
 * stays there with its elements when nobody takes part. Send, receive, bulk, select() and
 * range-for are as in <ipcwait/channel.hpp>, but for eventfd(); bulk costs as much as one by one.
 *
 * Death, trust and fork(2) are as <ipcwait/channel_shared.h> says. Errors are std::system_error
 * with the value that the functions of C return: EPERM in a child of fork(2), which may attach()
 * to the fd() that it has inherited; EBADMSG for a damaged file, and for one with elements of
 * another size than T has. close() and size_approx() throw nothing, and say false and 0 then.
 */
#ifndef IPCWAIT_CHANNEL_SHARED_HPP
#define IPCWAIT_CHANNEL_SHARED_HPP

#include <sys/mman.h>
#include <unistd.h>

#include <ipcwait/channel.hpp>
#include <ipcwait/channel_shared.h>

namespace ipcwait
{

namespace impl
{

struct shared_channel_calls : channel_base_calls {
	static constexpr const char *name = "ipcwait::shared_channel";
	static constexpr std::size_t elem_max = IPCWAIT_CHANNEL_ELEM_MAX;
};

/* A file descriptor, or none, that is closed at the end. */
class descriptor
{
      public:
	explicit descriptor(int fd = -1) noexcept : fd_(fd)
	{
	}
	descriptor(descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1))
	{
	}
	descriptor &operator=(descriptor &&other) noexcept
	{
		descriptor old(std::move(other));

		std::swap(fd_, old.fd_);
		return *this;
	}
	~descriptor()
	{
		if (fd_ >= 0)
			::close(fd_);
	}
	int get() const noexcept
	{
		return fd_;
	}

      private:
	int fd_;
};

} // namespace impl

template <class T>
class shared_channel : public impl::channel_base<T, impl::shared_channel_calls>
{
	static_assert(std::is_trivially_copyable_v<T>, "other processes get its bytes");
	static_assert(sizeof(T) <= IPCWAIT_CHANNEL_ELEM_MAX, "the type is too large");

	using calls = impl::shared_channel_calls;
	using base = impl::channel_base<T, calls>;

      public:
	/* In a file that is empty; @fd stays the caller's. EEXIST: it is not empty. */
	static shared_channel create(int fd, std::uint64_t capacity)
	{
		return shared_channel(made(fd, capacity));
	}
	/* In a memfd that nobody can make shorter. */
	static shared_channel anonymous(std::uint64_t capacity,
					const char *name = "ipcwait")
	{
		impl::descriptor fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));

		if (fd.get() < 0)
			impl::fail(-errno, calls::name);
		shared_channel part(made(fd.get(), capacity));
		part.fd_ = std::move(fd);
		return part;
	}
	/* Takes part in one that was made; @fd stays the caller's. EAGAIN: there is none yet. */
	static shared_channel attach(int fd)
	{
		ipcwait_channel *ch = nullptr;

		check(ipcwait_channel_attach(fd, &ch));
		return attached(ch);
	}
	/* Nothing: there is none yet. */
	static std::optional<shared_channel> try_attach(int fd)
	{
		ipcwait_channel *ch = nullptr;
		int r = ipcwait_channel_attach(fd, &ch);

		if (r == -EAGAIN)
			return std::nullopt;
		check(r);
		return attached(ch);
	}

	/* Of an anonymous one, to be handed on; closed with the object, and by exec. Else -1. */
	int fd() const noexcept
	{
		return fd_.get();
	}

	/* What processes that died have left behind. */
	ipcwait_channel_shared_stats stats() const
	{
		ipcwait_channel_shared_stats st = {};
		int r = ipcwait_channel_shared_stats_get(this->native_handle(), &st,
							 sizeof(st));

		if (r < 0)
			impl::fail(r, calls::name);
		return st;
	}

      private:
	explicit shared_channel(ipcwait_channel *ch) : base(ch)
	{
	}

	static void check(int r)
	{
		if (r == -ENOMEM)
			impl::fail_no_memory();
		impl::check(r, calls::name);
	}
	static ipcwait_channel *made(int fd, std::uint64_t capacity)
	{
		ipcwait_channel_params p = {};
		ipcwait_channel *ch = nullptr;

		p.elem_size = sizeof(T);
		p.capacity = capacity;
		check(ipcwait_channel_create_shared(fd, &p, &ch));
		return ch;
	}
	static shared_channel attached(ipcwait_channel *ch)
	{
		shared_channel part(ch);

		if (ipcwait_channel_elem_size(ch) != sizeof(T))
			impl::fail(-EBADMSG, calls::name);
		return part;
	}

	impl::descriptor fd_;
};

} // namespace ipcwait

#endif
