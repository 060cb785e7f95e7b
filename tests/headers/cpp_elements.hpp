/* SPDX-License-Identifier: MIT */
/* Elements for the tests of the C++ queues: they know who is alive, and fail when they are told. */
#ifndef CPP_ELEMENTS_HPP
#define CPP_ELEMENTS_HPP

#include <atomic>
#include <cstdint>
#include <stdexcept>

#include "cpp_check.hpp"

/* Throws when as many copies or moves have been made as the fuse is long; 0: never. */
inline thread_local int fuse;

inline void burn()
{
	if (fuse && --fuse == 0)
		throw std::runtime_error("fuse");
}

inline std::atomic<long> alive;

/* Must be constructed before and destroyed after use, once each, where it lies. */
class counted
{
      public:
	explicit counted(int value = 0) : value_(value)
	{
		burn();
		born();
	}
	counted(const counted &other) : value_(other.value())
	{
		burn();
		born();
	}
	counted(counted &&other) : value_(other.value())
	{
		burn();
		born();
		other.value_ = -1;
	}
	counted &operator=(const counted &other)
	{
		burn();
		value_ = other.value();
		return *this;
	}
	counted &operator=(counted &&other)
	{
		burn();
		value_ = other.value();
		if (&other != this)
			other.value_ = -1;
		return *this;
	}
	~counted()
	{
		CHECK(self_ == this);
		self_ = nullptr;
		alive--;
	}

	int value() const
	{
		CHECK(self_ == this);
		return value_;
	}

      private:
	void born()
	{
		self_ = this;
		alive++;
	}

	const counted *self_;
	int value_;
};

template <class F> static bool burns(int length, F f)
{
	bool thrown = false;

	fuse = length;
	try {
		f();
	} catch (const std::runtime_error &) {
		thrown = true;
	}
	fuse = 0;
	return thrown;
}

/* By its bytes, and by its address. */
struct alignas(256) wide {
	int value;
};

struct alignas(1024) wide_node {
	explicit wide_node(int v) : value(v)
	{
		CHECK(reinterpret_cast<std::uintptr_t>(this) % 1024 == 0);
	}
	wide_node(wide_node &&other) noexcept : wide_node(other.value)
	{
	}
	wide_node &operator=(wide_node &&other) = default;
	~wide_node()
	{
		CHECK(reinterpret_cast<std::uintptr_t>(this) % 1024 == 0);
	}
	int value;
};

/* Neither assigned nor made without arguments. */
struct rigid {
	rigid(int a, int b) : sum(a + b)
	{
	}
	const int sum;
};

/* What lies behind it in a derived class is not its own: the padding is used for that. */
class padded
{
      public:
	padded() = default;
	padded(int a, char b) : a_(a), b_(b)
	{
	}
	int sum() const
	{
		return a_ + b_;
	}

      private:
	int a_ = 0;
	char b_ = 0;
};

struct behind : padded {
	char tail = 7;
};

#endif
