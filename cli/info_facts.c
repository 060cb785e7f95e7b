/* SPDX-License-Identifier: MIT */
/* The list of facts. */
#include "info.h"

#include <assert.h>
#include <string.h>

static struct info_fact *put(struct info *info, const char *key, enum info_kind kind)
{
	struct info_fact *fact;

	assert(info->facts < INFO_FACTS_MOST);
	/* Without assertions: what is too much overwrites itself behind the list. */
	fact = &info->fact[info->facts];
	info->facts += info->facts < INFO_FACTS_MOST;
	*fact = (struct info_fact){ .section = info->section, .key = key, .kind = kind };
	return fact;
}

static void put_words(struct info *info, const char *key, enum info_kind kind,
		      const char *text)
{
	info_append(put(info, key, kind)->text, INFO_TEXT_BYTES, text);
}

void info_put_text(struct info *info, const char *key, const char *text)
{
	put_words(info, key, INFO_TEXT, text);
}

void info_put_number(struct info *info, const char *key, double number)
{
	put(info, key, INFO_NUMBER)->number = number;
}

void info_put_boolean(struct info *info, const char *key, bool value)
{
	put(info, key, INFO_BOOLEAN)->number = value;
}

void info_put_list(struct info *info, const char *key, const char *members)
{
	put_words(info, key, INFO_LIST, members);
}

void info_put_none(struct info *info, const char *key, const char *text)
{
	put_words(info, key, INFO_NONE, text);
}

void info_put_missing(struct info *info, const char *key, const char *why)
{
	put_words(info, key, INFO_MISSING, why);
}

void info_put_states(struct info *info, const char *key)
{
	put(info, key, INFO_STATES);
}

const struct info_fact *info_find(const struct info *info, const char *key)
{
	for (unsigned i = 0; i < info->facts; i++)
		if (!strcmp(info->fact[i].key, key))
			return &info->fact[i];
	return NULL;
}

bool info_is_saved_tree(const struct info *info)
{
	return *info->root != '\0';
}

void info_append(char *to, size_t size, const char *text)
{
	size_t used = strlen(to), length = strlen(text);

	if (used >= size)
		return;
	if (used + length < size) {
		memcpy(to + used, text, length + 1);
		return;
	}
	length = size - used - 1;
	memcpy(to + used, text, length);
	to[size - 1] = '\0';
	if (size > sizeof(INFO_CUT))
		memcpy(to + size - sizeof(INFO_CUT), INFO_CUT, sizeof(INFO_CUT));
}

void info_make_printable(char *text)
{
	for (; *text; text++)
		if (*text == '\t')
			*text = ' ';
		else if (*text < ' ' || *text > '~')
			*text = '?';
}
