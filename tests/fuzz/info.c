/* SPDX-License-Identifier: MIT */
/*
 * `ipcwait info --root`: what others have saved of /proc, /sys and /etc. A '%' and a letter begin
 * a file of @files, with what stands behind it up to the next '%'; the others are missing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../cli/info.h"
#include "common/fuzz.h"
#include "env/cgroup.h"

#define CPU      "/sys/devices/system/cpu/"
#define CLOCKS   "/sys/devices/system/clocksource/clocksource0/"
#define HALTPOLL "/sys/module/haltpoll/parameters/guest_halt_poll_"

static const struct {
	char letter;
	const char *path;
} files[] = {
	{ 'A', "/proc/cpuinfo" },
	{ 'B', "/proc/stat" },
	{ 'C', "/proc/cmdline" },
	{ 'D', "/proc/self/status" },
	{ 'E', "/proc/self/cgroup" },
	{ 'F', "/proc/self/mountinfo" },
	{ 'G', "/cg/cpu.max" },
	{ 'H', "/cg/a/cpu.max" },
	{ 'I', "/cg/a/cpu.cfs_quota_us" },
	{ 'J', "/cg/a/cpu.cfs_period_us" },
	{ 'K', "/proc/loadavg" },
	{ 'L', "/proc/uptime" },
	{ 'M', "/proc/meminfo" },
	{ 'N', "/etc/os-release" },
	{ 'O', "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ 'P', "/proc/sys/kernel/osrelease" },
	{ 'Q', "/proc/sys/kernel/version" },
	{ 'R', "/sys/kernel/debug/sched/preempt" },
	{ 'S', CLOCKS "available_clocksource" },
	{ 'T', CLOCKS "current_clocksource" },
	{ 'U', CPU "online" },
	{ 'V', CPU "cpu0/topology/thread_siblings_list" },
	{ 'W', CPU "cpuidle/current_driver" },
	{ 'X', "/sys/class/dmi/id/sys_vendor" },
	{ 'Y', "/sys/class/dmi/id/product_name" },
	{ 'Z', "/proc/device-tree/hypervisor/compatible" },
	{ 'a', "/proc/device-tree/model" },
	{ 'b', "/sys/devices/system/node/online" },
	{ 'c', HALTPOLL "ns" },
	{ 'd', CPU "cpu0/cache/index0/level" },
	{ 'e', CPU "cpu0/cache/index0/type" },
	{ 'f', CPU "cpu0/cache/index0/size" },
	{ 'g', CPU "cpu0/cache/index0/shared_cpu_list" },
	{ 'h', CPU "cpu0/cpuidle/state0/name" },
	{ 'i', CPU "cpu0/cpuidle/state0/latency" },
	{ 'j', CPU "cpu0/cpuidle/state0/disable" },
	{ 'k', CPU "vulnerabilities/meltdown" },
	{ 'l', "/sys/hypervisor/type" },
	{ 'm', "/proc/sys/kernel/perf_event_paranoid" },
	{ 'n', CPU "cpu0/cpufreq/scaling_driver" },
};

#define FILES (sizeof(files) / sizeof(files[0]))

/* As in cgroup.c: on disk it takes too long to write files, so they are links to memory. */
static char root[256];
static int memory[FILES];
static bool linked[FILES];

static void make_folders(const char *file)
{
	char path[512];

	snprintf(path, sizeof(path), "%s%s", root, file);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
}

static void make_root(void)
{
	const char *folder = getenv("TMPDIR");
	char path[512];

	snprintf(root, sizeof(root), "%s/root-XXXXXX", folder ? folder : "/tmp");
	FUZZ_CHECK(mkdtemp(root));
	for (unsigned i = 0; i < FILES; i++) {
		make_folders(files[i].path);
		memory[i] = memfd_create("fuzz", 0);
		FUZZ_CHECK(memory[i] >= 0);
	}
	/* Whatever CPU the input says. */
	for (unsigned i = 1; i < 4; i++) {
		snprintf(path, sizeof(path), "%s" CPU "cpu%u", root, i);
		FUZZ_CHECK(symlink("cpu0", path) == 0);
	}
}

static void set_link(unsigned i, bool wanted)
{
	char path[512], to[32];

	if (linked[i] == wanted)
		return;
	snprintf(path, sizeof(path), "%s%s", root, files[i].path);
	snprintf(to, sizeof(to), "/proc/self/fd/%d", memory[i]);
	FUZZ_CHECK((wanted ? symlink(to, path) : unlink(path)) == 0);
	linked[i] = wanted;
}

static unsigned index_of(char letter)
{
	unsigned i = 0;

	while (i < FILES && files[i].letter != letter)
		i++;
	return i;
}

/* Returns the length of what says where the groups are. */
static size_t write_files(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size, *at = size ? memchr(data, '%', size) : NULL;
	bool wanted[FILES] = { false };
	size_t groups = 0;

	while (at && end - at >= 2) {
		const uint8_t *begin = at + 2,
			      *next = memchr(begin, '%', (size_t)(end - begin));
		size_t length = (size_t)((next ? next : end) - begin);
		unsigned i = index_of((char)at[1]);

		at = next;
		if (i == FILES)
			continue;
		wanted[i] = true;
		groups += i == index_of('E') || i == index_of('F') ? length : 0;
		FUZZ_CHECK(ftruncate(memory[i], 0) == 0);
		FUZZ_CHECK(pwrite(memory[i], begin, length, 0) == (ssize_t)length);
	}
	for (unsigned i = 0; i < FILES; i++)
		set_link(i, wanted[i]);
	return groups;
}

static void read_all(struct info *info)
{
	info_read_cpu(info);
	info_read_cache(info);
	info_read_quota(info);
	info_read_load(info);
	info_read_virtual(info);
	info_read_idle(info);
	info_read_kernel(info);
	info_read_mitigations(info);
}

static void check_text(const char *text, size_t size, bool lines)
{
	size_t length = strnlen(text, size);

	FUZZ_CHECK(length < size);
	for (size_t i = 0; i < length; i++)
		FUZZ_CHECK((text[i] >= ' ' && text[i] <= '~') ||
			   (lines && text[i] == '\n'));
}

/* Whatever stands in the files: the same keys, each once, with something legal behind it. */
static void check_facts(const struct info *info)
{
	static unsigned usual;

	usual = usual ? usual : info->facts;
	FUZZ_CHECK(info->facts == usual && usual < INFO_FACTS_MOST);
	FUZZ_CHECK(info->states <= INFO_STATES_MOST);
	for (unsigned i = 0; i < info->facts; i++) {
		const struct info_fact *fact = &info->fact[i];

		FUZZ_CHECK(info_find(info, fact->key) == fact);
		FUZZ_CHECK(isfinite(fact->number));
		FUZZ_CHECK(fact->kind != INFO_MISSING || fact->text[0]);
		check_text(fact->text, sizeof(fact->text), fact->kind == INFO_LIST);
	}
	for (unsigned i = 0; i < info->states; i++)
		check_text(info->state[i].name, sizeof(info->state[i].name), false);
}

/* What is shown of the quota is what the library obeys. */
static void check_quota(const struct info *info)
{
	const struct info_fact *fact = info_find(info, "quota_cpus");
	uint32_t hundredths;
	struct iw_cgroup_names names;
	struct iw_cgroup_places places;

	(void)iw_cgroup_read_names(root, &names);
	iw_cgroup_find(root, &names, &places);
	hundredths = iw_cgroup_hundredths(&places);
	FUZZ_CHECK((fact->kind == INFO_NUMBER) == (hundredths > 0));
	FUZZ_CHECK(fact->number == (double)hundredths / 100);
}

static void check_output(const struct info *info, void (*show)(FILE *, const struct info *))
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	FUZZ_CHECK(f);
	show(f, info);
	FUZZ_CHECK(fclose(f) == 0);
	FUZZ_CHECK(strlen(text) == size);
	check_text(text, size + 1, true);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct info info;
	size_t groups;

	if (!root[0])
		make_root();
	groups = write_files(data, size);
	memset(&info, 0, sizeof(info));
	info.root = root;
	info.section = "all";
	read_all(&info);
	check_facts(&info);
	/* The library counts the root in when it finds a path too long, the command does not. */
	if (groups + strlen(root) < IW_CGROUP_PATH_BYTES)
		check_quota(&info);
	check_output(&info, info_print);
	check_output(&info, info_write_json);
	return 0;
}
