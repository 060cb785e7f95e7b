/* SPDX-License-Identifier: MIT */
/*
 * work WORKLOAD SECONDS: jobs for the threads of libuv, one or four at once. The loop queues a job
 * again as soon as it hears that the job is done. An operation is a job.
 */
#include "meter.h"

#include <uv.h>

#define JOBS_MOST 4

static struct meter meter;
static uv_work_t jobs[JOBS_MOST];
static bool over;
static int worked[JOBS_MOST]; /* by a thread, read by the loop after it */

static void work(uv_work_t *job)
{
	worked[job - jobs]++;
}

static void queue(uv_work_t *job);

static void done(uv_work_t *job, int status)
{
	if (status || !worked[job - jobs]--)
		exit(EXIT_FAILURE);
	over = over || !meter_on(&meter);
	if (!over)
		queue(job);
}

static void queue(uv_work_t *job)
{
	if (uv_queue_work(uv_default_loop(), job, work, done))
		exit(EXIT_FAILURE);
}

static int measure(int at_once, double seconds)
{
	meter_start(&meter, seconds, 16);
	for (int i = 0; i < at_once; i++)
		queue(&jobs[i]);
	if (uv_run(uv_default_loop(), UV_RUN_DEFAULT))
		return EXIT_FAILURE;
	return meter_show(meter.operations, meter.seconds);
}

int main(int argc, char **argv)
{
	double seconds = meter_seconds(argc, argv);

	if (seconds > 0 && !strcmp(argv[1], "one"))
		return measure(1, seconds);
	if (seconds > 0 && !strcmp(argv[1], "four"))
		return measure(JOBS_MOST, seconds);
	return meter_usage("one, four");
}
