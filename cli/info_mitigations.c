/* SPDX-License-Identifier: MIT */
/* Faults of the CPU that the kernel works around, which makes system calls dearer. */
#include "info.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "/sys/devices/system/cpu/vulnerabilities"

struct lists {
	char vulnerable[INFO_TEXT_BYTES], mitigated[INFO_TEXT_BYTES];
};

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void add(char list[INFO_TEXT_BYTES], const char *name)
{
	size_t used = strlen(list);

	/* Whole names only. */
	if (used + strlen(name) + 2 > INFO_TEXT_BYTES)
		return;
	info_append(list, INFO_TEXT_BYTES, name);
	info_make_printable(list + used);
	info_append(list, INFO_TEXT_BYTES, "\n");
}

/* "Mitigation: ...", "Vulnerable: ...", "KVM: Mitigation: ...", "Not affected". */
static void take(const struct info *info, struct lists *lists, const char *name)
{
	static const char kvm[] = "KVM: ";
	char text[INFO_TEXT_BYTES];
	const char *at = text;

	if (!info_line(info, text, sizeof(text), FOLDER "/%s", name))
		return;
	if (!strncmp(at, kvm, sizeof(kvm) - 1))
		at += sizeof(kvm) - 1;
	if (!strncmp(at, "Vulnerable", strlen("Vulnerable")))
		add(lists->vulnerable, name);
	else if (!strncmp(at, "Mitigation", strlen("Mitigation")))
		add(lists->mitigated, name);
}

void info_read_mitigations(struct info *info)
{
	struct lists lists = { .vulnerable = "" };
	char path[PATH_MAX];
	struct dirent **entries;
	int n = -1;

	if (snprintf(path, sizeof(path), "%s" FOLDER, info->root) < (int)sizeof(path))
		n = scandir(path, &entries, is_visible, alphasort);
	if (n < 0) {
		info_put_missing(info, "vulnerable", "no " FOLDER);
		info_put_missing(info, "mitigated", "no " FOLDER);
		return;
	}
	for (int i = 0; i < n; i++) {
		take(info, &lists, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	info_put_list(info, "vulnerable", lists.vulnerable);
	info_put_list(info, "mitigated", lists.mitigated);
}
