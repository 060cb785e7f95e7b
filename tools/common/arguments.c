/* SPDX-License-Identifier: MIT */
#include "arguments.h"
#include "complain.h"
#include "number.h"

#include <stdbool.h>
#include <string.h>

int argument_number(const char *what, const char *text, uint64_t least, uint64_t most,
		    uint64_t *n)
{
	if (!number_parse(text, least, most, n))
		return 0;
	return refuse("%s is '%s', but must be a whole number from %llu to %llu", what,
		      shown(text, -1), (unsigned long long)least, (unsigned long long)most);
}

static char letter_of(const struct argument *known)
{
	return !strcmp(known->name, "--help") ? 'h' : known->letter;
}

static bool is_letter(const char *text)
{
	return text[0] == '-' && text[1] && text[1] != '-' && !text[2];
}

static const struct argument *find(const struct arguments *a, const char *text,
				   size_t length)
{
	for (unsigned i = 0; i < a->n; i++)
		if ((strlen(a->known[i].name) == length &&
		     !strncmp(a->known[i].name, text, length)) ||
		    (is_letter(text) && letter_of(&a->known[i]) == text[1]))
			return &a->known[i];
	return NULL;
}

static int set(struct options *o, const struct argument *known, const char *value)
{
	void *member = (char *)o + known->at;

	switch (known->kind) {
	case ARGUMENT_FLAG:
		*(bool *)member = true;
		return 0;
	case ARGUMENT_PATH:
		*(const char **)member = value;
		return *value ? 0
			      : refuse("%s is '', but must be the path of a file",
				       known->name);
	case ARGUMENT_PRINT:
		known->print();
		return 1;
	default:
		return known->set(o, value);
	}
}

static bool takes_value(const struct argument *known)
{
	return known->kind == ARGUMENT_PATH || known->kind == ARGUMENT_VALUE ||
	       known->kind == ARGUMENT_MAYBE;
}

/* argv[*i] begins with a dash; a value is behind '=' or is the next argument. */
static int take(struct options *o, const struct arguments *a, int argc, char **argv, int *i)
{
	const char *text = argv[*i];
	size_t length = strcspn(text, "=");
	const struct argument *known = find(a, text, length);
	const char *value = text[length] ? text + length + 1 : NULL;
	bool next = *i + 1 < argc;

	if (!known)
		return refuse("unknown option '%s'", shown(text, (int)length));
	if (!takes_value(known))
		return value ? refuse("%s takes no value", known->name)
			     : set(o, known, NULL);
	if (known->kind == ARGUMENT_MAYBE)
		next = next && strncmp(argv[*i + 1], "--", 2) != 0;
	else if (!value && !next)
		return refuse("%s needs a value", known->name);
	if (!value && next)
		value = argv[++*i];
	return set(o, known, value);
}

int arguments_parse(struct options *o, const struct arguments *a, int argc, char **argv)
{
	unsigned others = 0;
	int r = 0;

	for (int i = 1; i < argc && !r; i++)
		if (!strncmp(argv[i], "--", 2) || find(a, argv[i], strlen(argv[i])))
			r = take(o, a, argc, argv, &i);
		else if (a->other)
			r = a->other(o, argv[i], others++);
		else
			r = refuse("unknown argument '%s'", shown(argv[i], -1));
	return r;
}

int arguments_parse_front(struct options *o, const struct arguments *a, int argc,
			  char **argv)
{
	for (int i = 1; i < argc; i++) {
		int r;

		if (!strcmp(argv[i], "--"))
			return i + 1;
		if (argv[i][0] != '-')
			return i;
		r = take(o, a, argc, argv, &i);
		if (r)
			return r < 0 ? r : 0;
	}
	return argc;
}
