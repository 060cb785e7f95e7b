/* SPDX-License-Identifier: MIT */
#include "sem_fixed.h"
#include "../peers/sem_plain.h"

#include <stddef.h>

static void init_1us(void *sem)
{
	sem_plain_init(sem, 1000);
}

static void init_5us(void *sem)
{
	sem_plain_init(sem, 5000);
}

static void init_20us(void *sem)
{
	sem_plain_init(sem, 20000);
}

static void init_50us(void *sem)
{
	sem_plain_init(sem, 50000);
}

static void init_200us(void *sem)
{
	sem_plain_init(sem, 200000);
}

static const struct sem_ops ops[] = {
	{ "fixed", init_1us, sem_plain_wait, sem_plain_post, NULL },
	{ "fixed", init_5us, sem_plain_wait, sem_plain_post, NULL },
	{ "fixed", init_20us, sem_plain_wait, sem_plain_post, NULL },
	{ "fixed", init_50us, sem_plain_wait, sem_plain_post, NULL },
	{ "fixed", init_200us, sem_plain_wait, sem_plain_post, NULL },
};

const struct sem_fixed sem_fixed[] = {
	{ "1us", { .name = "fixed", .ops = &ops[0] } },
	{ "5us", { .name = "fixed", .ops = &ops[1] } },
	{ "20us", { .name = "fixed", .ops = &ops[2] } },
	{ "50us", { .name = "fixed", .ops = &ops[3] } },
	{ "200us", { .name = "fixed", .ops = &ops[4] } },
	{ NULL, { .name = NULL } },
};
