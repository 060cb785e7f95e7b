/* SPDX-License-Identifier: MIT */
/*
 * The way to libgcc's unwinder. A function with a cleanup refers to it, and with that the shared
 * library would load libgcc_s into every program, 110 us at each start. These stand in for what it
 * refers to, in the shared library only (lib/meson.build): who calls them unwinds a stack, so the
 * unwinder is there by then. glibc does the same in its own functions.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unwind.h>

_Unwind_Reason_Code iw_unwind_personality(int version, _Unwind_Action actions,
					  _Unwind_Exception_Class kind,
					  struct _Unwind_Exception *exception,
					  struct _Unwind_Context *context);
_Noreturn void iw_unwind_resume(struct _Unwind_Exception *exception);

typedef _Unwind_Reason_Code personality_fn(int, _Unwind_Action, _Unwind_Exception_Class,
					   struct _Unwind_Exception *,
					   struct _Unwind_Context *);

/* It may have come with the program, or with what the program has loaded for itself. */
static void *look_up(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);
	void *library;

	if (address)
		return address;
	library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NODELETE);
	if (!library)
		return NULL;
	address = dlsym(library, name);
	(void)dlclose(library);
	return address;
}

/* The form that POSIX gives for functions found with dlsym(). */
#define FIND(function, name) (*(void **)(void *)&(function) = look_up(name))

static const void *object_of(const void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/*
 * What libgcc's personality asks of a frame, it asks of the unwinder that would be found here. If
 * another is at work, as one that is linked into the program, the two do not understand each other:
 * the program would abort.
 */
static bool is_ours(const void *unwinder)
{
	const void *object = object_of(unwinder);

	return object && object == object_of(look_up("_Unwind_SetIP"));
}

/* Asked by the unwinder at each frame that has a cleanup. Without an answer that is not run. */
_Unwind_Reason_Code iw_unwind_personality(int version, _Unwind_Action actions,
					  _Unwind_Exception_Class kind,
					  struct _Unwind_Exception *exception,
					  struct _Unwind_Context *context)
{
	personality_fn *real = NULL;

	if (is_ours(__builtin_return_address(0)))
		FIND(real, "__gcc_personality_v0");
	if (!real)
		return _URC_CONTINUE_UNWIND;
	return real(version, actions, kind, exception, context);
}

/*
 * Called after the cleanup. That it does not return is said for the address sanitizer, which
 * otherwise takes this frame for live.
 */
_Noreturn void iw_unwind_resume(struct _Unwind_Exception *exception)
{
	__attribute__((noreturn)) void (*real)(struct _Unwind_Exception *) = NULL;

	FIND(real, "_Unwind_Resume");
	if (real)
		real(exception);
	abort();
}
