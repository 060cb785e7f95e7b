/* SPDX-License-Identifier: MIT */
/*
 * How objects of a C++ type go through the queues of C, which carry bytes. Not API.
 *
 * impl::values<T>: the bytes of the object, if T is trivially copyable.
 * impl::nodes<T>: the address of a T that lives in a pool. The pool belongs to the queue.
 *
 * Both have give() for an object that is there, make() for one to be constructed, take() to move
 * one out, and a batch for many. What goes in or comes out does so by a function of the queue that
 * is handed the address of the element, returns 0 or a negative errno, and does not throw.
 */
#ifndef IPCWAIT_IMPL_ELEMENTS_HPP
#define IPCWAIT_IMPL_ELEMENTS_HPP

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <ipcwait/impl/cxx.hpp>
#include <ipcwait/pool.h>

namespace ipcwait
{
namespace impl
{

/* A batch is at most so many objects, and so many bytes of the stack. */
inline constexpr std::size_t batch_max = 64;
inline constexpr std::size_t batch_bytes = 4096;

/* Memory for a T, which nobody constructs or destroys but whoever knows that it is there. */
template <class T> union room {
	room() noexcept
	{
	}
	~room()
	{
	}
	T value;
};

template <class T> class values
{
      public:
	using fini = void (*)(void *elem, void *arg);

	static constexpr std::size_t elem_size = sizeof(T);
	static constexpr bool by_address = false;
	static constexpr fini elem_fini = nullptr;

	template <class Push> int give(Push push, const T &x)
	{
		return push(static_cast<const void *>(std::addressof(x)));
	}
	template <class Push, class... Args> int make(Push push, Args &&...args)
	{
		T x(std::forward<Args>(args)...);

		return give(push, x);
	}

	/* Not straight into an object of the caller: behind a base class may lie other members. */
	template <class Pop, class Out> int take(Pop pop, Out out)
	{
		room<T> x;
		int r = pop(static_cast<void *>(std::addressof(x.value)));

		if (r == 0)
			out(std::move(x.value));
		return r;
	}

	static T *at(void *elem) noexcept
	{
		return static_cast<T *>(elem);
	}
	void drop(T *) noexcept
	{
	}

	/* Objects [first_, last_) are there. */
	class batch
	{
	      public:
		static constexpr std::size_t max =
			sizeof(T) * batch_max <= batch_bytes ? batch_max
			: sizeof(T) < batch_bytes            ? batch_bytes / sizeof(T)
							     : 1;

		explicit batch(values &) noexcept
		{
		}
		template <class Arg> bool add(Arg &&arg)
		{
			::new (static_cast<void *>(std::addressof(room_[last_].value)))
				T(std::forward<Arg>(arg));
			last_++;
			return true;
		}
		void *elems() noexcept
		{
			return room_ + first_;
		}
		std::size_t size() const noexcept
		{
			return last_ - first_;
		}
		void sent(std::size_t n) noexcept
		{
			first_ += n;
		}
		void received(std::size_t n) noexcept
		{
			last_ = n;
		}
		template <class Out> void move_out(Out out)
		{
			out(std::move(room_[first_].value));
			first_++;
		}

	      private:
		room<T> room_[max];
		std::size_t first_ = 0, last_ = 0;
	};
};

struct pool_end {
	void operator()(ipcwait_pool *pool) const noexcept
	{
		ipcwait_pool_destroy(pool);
	}
};

template <class T> class nodes
{
	static_assert(sizeof(T) <= IPCWAIT_POOL_ELEM_MAX,
		      "the type is larger than a pool takes");
	static_assert(alignof(T) <= IPCWAIT_POOL_ALIGN_MAX, "a pool does not align so far");
	static_assert(std::is_nothrow_destructible_v<T>, "the destructor may throw");

      public:
	static constexpr std::size_t elem_size = sizeof(void *);
	static constexpr bool by_address = true;

	nodes()
	{
		struct ipcwait_pool_params params = {};
		struct ipcwait_pool *pool;

		params.elem_size = sizeof(T);
		params.elem_align = alignof(T);
		if (ipcwait_pool_create(&params, &pool))
			fail_no_memory();
		pool_.reset(pool);
	}

	/* What is left when a queue ends; the memory goes with the pool. */
	static void elem_fini(void *elem, void *) noexcept
	{
		at(elem)->~T();
	}

	template <class Push> int give(Push push, const T &x)
	{
		return make(push, x);
	}
	/* What cannot go in goes back to where it was, if it can be assigned. */
	template <class Push> int give(Push push, T &&x)
	{
		node n(*this);
		int r = n.construct(std::move(x)) ? n.send(push) : -ENOMEM;

		if constexpr (std::is_move_assignable_v<T>)
			if (n.object())
				x = std::move(*n.object());
		return r;
	}
	template <class Push, class... Args> int make(Push push, Args &&...args)
	{
		node n(*this);

		return n.construct(std::forward<Args>(args)...) ? n.send(push) : -ENOMEM;
	}
	template <class Pop, class Out> int take(Pop pop, Out out)
	{
		void *elem;
		int r = pop(static_cast<void *>(&elem));

		if (r == 0) {
			node n(*this, at(&elem));

			out(std::move(*n.object()));
		}
		return r;
	}

	static T *at(void *elem) noexcept
	{
		return static_cast<T *>(*static_cast<void **>(elem));
	}
	void drop(T *x) noexcept
	{
		x->~T();
		ipcwait_pool_put(pool_.get(), x);
	}

	/* Objects [first_, last_) are there, and end with the batch. */
	class batch
	{
	      public:
		static constexpr std::size_t max = batch_max;

		explicit batch(nodes &of) noexcept : of_(of)
		{
		}
		batch(const batch &) = delete;
		batch &operator=(const batch &) = delete;
		~batch()
		{
			while (first_ != last_)
				of_.drop(at(&elem_[first_++]));
		}
		template <class Arg> bool add(Arg &&arg)
		{
			node n(of_);

			if (!n.construct(std::forward<Arg>(arg)))
				return false;
			elem_[last_++] = n.release();
			return true;
		}
		void *elems() noexcept
		{
			return elem_ + first_;
		}
		std::size_t size() const noexcept
		{
			return last_ - first_;
		}
		void sent(std::size_t n) noexcept
		{
			first_ += n;
		}
		void received(std::size_t n) noexcept
		{
			last_ = n;
		}
		template <class Out> void move_out(Out out)
		{
			node n(of_, at(&elem_[first_++]));

			out(std::move(*n.object()));
		}

	      private:
		nodes &of_;
		void *elem_[max];
		std::size_t first_ = 0, last_ = 0;
	};

      private:
	/* Memory of the pool, and the object in it, until one of them is somebody else's. */
	class node
	{
	      public:
		explicit node(nodes &of) noexcept
		    : of_(of), memory_(ipcwait_pool_get(of.pool_.get()))
		{
		}
		node(nodes &of, T *x) noexcept : of_(of), memory_(x), object_(x)
		{
		}
		node(const node &) = delete;
		node &operator=(const node &) = delete;
		~node()
		{
			if (object_)
				object_->~T();
			if (memory_)
				ipcwait_pool_put(of_.pool_.get(), memory_);
		}

		/* False: no memory. */
		template <class... Args> bool construct(Args &&...args)
		{
			if (memory_)
				object_ = ::new (memory_) T(std::forward<Args>(args)...);
			return memory_;
		}
		template <class Push> int send(Push push)
		{
			void *elem = memory_;
			int r = push(static_cast<const void *>(&elem));

			if (r == 0)
				release();
			return r;
		}
		void *release() noexcept
		{
			object_ = nullptr;
			return std::exchange(memory_, nullptr);
		}
		T *object() const noexcept
		{
			return object_;
		}

	      private:
		nodes &of_;
		void *memory_;
		T *object_ = nullptr;
	};

	std::unique_ptr<ipcwait_pool, pool_end> pool_;
};

/* Bytes for what is trivially copyable and no larger than @Max, else addresses. */
template <class T, std::size_t Max>
using elements = std::conditional_t<std::is_trivially_copyable_v<T> && sizeof(T) <= Max,
				    values<T>, nodes<T>>;

} // namespace impl
} // namespace ipcwait

#endif
