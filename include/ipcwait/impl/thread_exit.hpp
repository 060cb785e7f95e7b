/* SPDX-License-Identifier: MIT */
/*
 * What is to be done when a thread has ended: after all destructors of its thread_local objects,
 * which only a key of the threads' own library comes after. Not API.
 */
#ifndef IPCWAIT_IMPL_THREAD_EXIT_HPP
#define IPCWAIT_IMPL_THREAD_EXIT_HPP

#include <memory>
#include <utility>

#include <pthread.h>

#include <ipcwait/impl/cxx.hpp>

namespace ipcwait
{
namespace impl
{

/* Its destructor is what is to be done. */
struct exit_notice {
	exit_notice() = default;
	exit_notice(const exit_notice &) = delete;
	exit_notice &operator=(const exit_notice &) = delete;
	virtual ~exit_notice() = default;

	exit_notice *before = nullptr;
};

class exit_notices
{
      public:
	/* Of the whole process; its end is that of the main thread, which runs no key's function. */
	static exit_notices &of_process()
	{
		static exit_notices notices;

		return notices;
	}
	exit_notices(const exit_notices &) = delete;
	exit_notices &operator=(const exit_notices &) = delete;

	void add(std::unique_ptr<exit_notice> notice)
	{
		notice->before = static_cast<exit_notice *>(pthread_getspecific(key_));
		check(-pthread_setspecific(key_, notice.get()),
		      "ipcwait::notify_all_at_thread_exit");
		(void)notice.release();
	}

      private:
	exit_notices()
	{
		check(-pthread_key_create(&key_, give),
		      "ipcwait::notify_all_at_thread_exit");
	}
	~exit_notices()
	{
		void *last = pthread_getspecific(key_);

		(void)pthread_setspecific(key_, nullptr);
		give(last);
	}
	static void give(void *last)
	{
		for (auto *notice = static_cast<exit_notice *>(last); notice;) {
			std::unique_ptr<exit_notice> ended(notice);

			notice = notice->before;
		}
	}

	pthread_key_t key_{};
};

} // namespace impl
} // namespace ipcwait

#endif
