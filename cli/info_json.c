/* SPDX-License-Identifier: MIT */
/* The facts as JSON: an object for each section. What is missing is null, with a reason. */
#include "info.h"
#include "../tools/common/json_writer.h"

#include <string.h>

#define FORMAT_VERSION 1

/* Whole numbers below this are exact in a double. */
#define EXACT 9007199254740992.0

static void write_number(struct json *j, const char *key, double n)
{
	if (n > -EXACT && n < EXACT && n == (double)(int64_t)n)
		json_integer(j, key, (int64_t)n);
	else
		json_number(j, key, n);
}

static void write_list(struct json *j, const struct info_fact *fact)
{
	char text[INFO_TEXT_BYTES], *rest = text;

	memcpy(text, fact->text, sizeof(text));
	json_open(j, fact->key, '[');
	for (char *member; (member = strsep(&rest, "\n"));)
		if (*member)
			json_text(j, NULL, member);
	json_close(j, ']');
}

static void write_figure(struct json *j, const char *key, double n)
{
	if (n < 0)
		json_null(j, key);
	else
		write_number(j, key, n);
}

static void write_states(struct json *j, const struct info *info, const char *key)
{
	json_open(j, key, '[');
	for (unsigned i = 0; i < info->states; i++) {
		const struct info_state *s = &info->state[i];

		json_open(j, NULL, '{');
		json_text(j, "name", s->name);
		write_figure(j, "exit_us", s->exit_us);
		write_figure(j, "residency_us", s->residency_us);
		write_figure(j, "usage", s->usage);
		write_figure(j, "time_us", s->time_us);
		json_boolean(j, "disabled", s->disabled);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void write_nothing(struct json *j, const struct info_fact *fact)
{
	char key[64];

	json_null(j, fact->key);
	(void)snprintf(key, sizeof(key), "%s_reason", fact->key);
	json_text(j, key, fact->text);
}

static void write_fact(struct json *j, const struct info *info,
		       const struct info_fact *fact)
{
	switch (fact->kind) {
	case INFO_TEXT:
		json_text(j, fact->key, fact->text);
		break;
	case INFO_NUMBER:
		write_number(j, fact->key, fact->number);
		break;
	case INFO_BOOLEAN:
		json_boolean(j, fact->key, fact->number != 0);
		break;
	case INFO_LIST:
		write_list(j, fact);
		break;
	case INFO_STATES:
		write_states(j, info, fact->key);
		break;
	default:
		write_nothing(j, fact);
		break;
	}
}

void info_write_json(FILE *f, const struct info *info)
{
	struct json j = json_begin(f);
	const char *section = NULL;

	json_text(&j, "program", "ipcwait info");
	json_whole(&j, "format", FORMAT_VERSION);
	json_boolean(&j, "saved_tree", info_is_saved_tree(info));
	for (unsigned i = 0; i < info->facts; i++) {
		const struct info_fact *fact = &info->fact[i];

		if (fact->section != section) {
			if (section)
				json_close(&j, '}');
			section = fact->section;
			json_open(&j, section, '{');
		}
		write_fact(&j, info, fact);
	}
	if (section)
		json_close(&j, '}');
	json_end(&j);
}
