/* SPDX-License-Identifier: MIT */
/* Types, members and constants as the standard has them, of whichever library. */
#include <type_traits>

#include "port.hpp"

template <class T>
constexpr bool stays = !std::is_copy_constructible_v<T> &&
		       !std::is_move_constructible_v<T> && !std::is_copy_assignable_v<T> &&
		       !std::is_move_assignable_v<T> && std::is_nothrow_destructible_v<T>;

template <class F, class T> constexpr bool has(F T::*)
{
	return true;
}

template <class M> constexpr bool is_mutex()
{
	return has<void()>(&M::lock) && has<bool()>(&M::try_lock) &&
	       has<void()>(&M::unlock) && stays<M> && std::is_default_constructible_v<M> &&
	       std::is_standard_layout_v<M>;
}

template <class M> constexpr bool is_shared()
{
	return is_mutex<M>() && has<void()>(&M::lock_shared) &&
	       has<bool()>(&M::try_lock_shared) && has<void()>(&M::unlock_shared);
}

using time_in = std::chrono::milliseconds;
using time_at = std::chrono::system_clock::time_point;

template <class M> constexpr bool is_timed()
{
	return is_mutex<M>() &&
	       has<bool(const time_in &)>(
		       &M::template try_lock_for<time_in::rep, time_in::period>) &&
	       has<bool(const time_at &)>(
		       &M::template try_lock_until<time_at::clock, time_at::duration>);
}

template <class M, class = void> constexpr bool has_deadlines = false;
template <class M>
constexpr bool
	has_deadlines<M, std::void_t<decltype(std::declval<M>().try_lock_for(time_in()))>> =
		true;

static_assert(is_mutex<mt::mutex>() && !has_deadlines<mt::mutex>);
static_assert(is_mutex<mt::recursive_mutex>() && !has_deadlines<mt::recursive_mutex>);
static_assert(is_timed<mt::timed_mutex>() && is_timed<mt::recursive_timed_mutex>());
static_assert(is_shared<mt::shared_mutex>() && !has_deadlines<mt::shared_mutex>);
static_assert(is_shared<mt::shared_timed_mutex>() && is_timed<mt::shared_timed_mutex>());
static_assert(std::is_nothrow_default_constructible_v<mt::mutex>);
static_assert(noexcept(std::declval<mt::recursive_mutex>().try_lock()));
static_assert(noexcept(std::declval<mt::recursive_timed_mutex>().try_lock()));

/* A program may overload for each. */
template <class T, class... Others>
constexpr bool differs = !(std::is_same_v<T, Others> || ...);
template <class T, class... Others> constexpr bool all_differ()
{
	if constexpr (sizeof...(Others) == 0)
		return true;
	else
		return differs<T, Others...> && all_differ<Others...>();
}
static_assert(
	all_differ<mt::mutex, mt::timed_mutex, mt::recursive_mutex,
		   mt::recursive_timed_mutex, mt::shared_mutex, mt::shared_timed_mutex>());

static_assert(stays<mt::once_flag> &&
	      std::is_nothrow_default_constructible_v<mt::once_flag>);
static_assert(std::is_void_v<decltype(mt::call_once(std::declval<mt::once_flag &>(),
						    constants))>);

using semaphore = mt::counting_semaphore<7>;
static_assert(stays<semaphore> && !std::is_default_constructible_v<semaphore> &&
	      std::is_nothrow_constructible_v<semaphore, std::ptrdiff_t> &&
	      !std::is_convertible_v<std::ptrdiff_t, semaphore>);
static_assert(has<void(std::ptrdiff_t)>(&semaphore::release) &&
	      has<void()>(&semaphore::acquire) &&
	      has<bool() noexcept>(&semaphore::try_acquire));
static_assert(has<bool(const time_in &)>(
		      &semaphore::try_acquire_for<time_in::rep, time_in::period>) &&
	      has<bool(const time_at &)>(
		      &semaphore::try_acquire_until<time_at::clock, time_at::duration>));
static_assert(semaphore::max() >= 7 &&noexcept(semaphore::max()));
static_assert(mt::counting_semaphore<>::max() > 1000000);
static_assert(std::is_same_v<mt::binary_semaphore, mt::counting_semaphore<1>>);
static mt::counting_semaphore<3> semaphore_of_program(3);
#ifdef PORTED /* libstdc++ 12's is not */
static constinit mt::counting_semaphore<3> constant_semaphore(3);
#endif

static_assert(stays<mt::latch> && !std::is_default_constructible_v<mt::latch> &&
	      std::is_nothrow_constructible_v<mt::latch, std::ptrdiff_t> &&
	      !std::is_convertible_v<std::ptrdiff_t, mt::latch>);
static_assert(has<void(std::ptrdiff_t)>(&mt::latch::count_down) &&
	      has<bool() const noexcept>(&mt::latch::try_wait) &&
	      has<void() const>(&mt::latch::wait) &&
	      has<void(std::ptrdiff_t)>(&mt::latch::arrive_and_wait));
static_assert(mt::latch::max() > 1000000 &&noexcept(mt::latch::max()));
static constinit mt::latch constant_latch(1);

struct completion {
	explicit completion(int)
	{
	}
	void operator()() noexcept
	{
	}
};
template <class B> constexpr bool is_barrier()
{
	using token = typename B::arrival_token;

	return stays<B> && has<token(std::ptrdiff_t)>(&B::arrive) &&
	       has<void(token &&) const>(&B::wait) && has<void()>(&B::arrive_and_wait) &&
	       has<void()>(&B::arrive_and_drop) && std::is_move_constructible_v<token> &&
	       std::is_move_assignable_v<token> && !std::is_copy_constructible_v<token> &&
	       B::max() > 1000000 &&noexcept(B::max());
}
static_assert(is_barrier<mt::barrier<>>() && is_barrier<mt::barrier<completion>>());
static_assert(std::is_constructible_v<mt::barrier<>, std::ptrdiff_t> &&
	      !std::is_convertible_v<std::ptrdiff_t, mt::barrier<>> &&
	      std::is_constructible_v<mt::barrier<completion>, std::ptrdiff_t, completion>);
static_assert(
	std::is_same_v<decltype(mt::barrier(1)), mt::barrier<>> &&
	std::is_same_v<decltype(mt::barrier(1, completion(1))), mt::barrier<completion>>);

/* Predicates, and what a wait with one says. */
using yes = bool (*)();

template <class C, class Lock> constexpr bool is_condition()
{
	Lock *lock = nullptr;
	C *c = nullptr;
	yes done = nullptr;

	return stays<C> && std::is_default_constructible_v<C> &&
	       has<void() noexcept>(&C::notify_one) &&
	       has<void() noexcept>(&C::notify_all) &&
	       std::is_void_v<decltype(c->wait(*lock))> &&
	       std::is_void_v<decltype(c->wait(*lock, done))> &&
	       std::is_same_v<decltype(c->wait_for(*lock, time_in())), mt::cv_status> &&
	       std::is_same_v<decltype(c->wait_until(*lock, time_at())), mt::cv_status> &&
	       std::is_same_v<decltype(c->wait_for(*lock, time_in(), done)), bool> &&
	       std::is_same_v<decltype(c->wait_until(*lock, time_at(), done)), bool>;
}
static_assert(is_condition<mt::condition_variable, mt::unique_lock<mt::mutex>>());
static_assert(std::is_standard_layout_v<mt::condition_variable>);
[[maybe_unused]] constexpr void (mt::condition_variable::*plain_wait)(
	mt::unique_lock<mt::mutex> &) = &mt::condition_variable::wait;
static_assert(is_condition<mt::condition_variable_any, mt::unique_lock<mt::mutex>>());
static_assert(
	is_condition<mt::condition_variable_any, mt::shared_lock<mt::shared_mutex>>());
static_assert(is_condition<mt::condition_variable_any, mt::recursive_mutex>());
static_assert(std::is_same_v<decltype(mt::notify_all_at_thread_exit),
			     void(mt::condition_variable &, mt::unique_lock<mt::mutex>)>);

/* The locks are the standard's in either library. */
static_assert(std::is_same_v<mt::scoped_lock<mt::mutex, mt::timed_mutex>,
			     std::scoped_lock<mt::mutex, mt::timed_mutex>>);
static_assert(std::is_same_v<decltype(mt::adopt_lock), const std::adopt_lock_t> &&
	      std::is_same_v<decltype(mt::defer_lock), const std::defer_lock_t> &&
	      std::is_same_v<decltype(mt::try_to_lock), const std::try_to_lock_t>);

/* They begin before the program does. */
void constants()
{
	semaphore_of_program.acquire();
#ifdef PORTED
	constant_semaphore.acquire();
#endif
	constant_latch.arrive_and_wait();
	std::printf("constants: %d\n", constant_latch.try_wait());
}
