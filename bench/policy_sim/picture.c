/* SPDX-License-Identifier: MIT */
#include "picture.h"
#include "../../tools/common/gnuplot.h"

#define PANEL_WIDTH  460
#define ROW_HEIGHT   24
#define FRAME_HEIGHT 130

/*
 * Inline data: the rank of the policy from below, the ratio. Dots of a row are spread over
 * a band, so that many at the same ratio look like many.
 */
static void write_dots(FILE *g, const struct series *s)
{
	fputs("$dots << EOD\n", g);
	for (size_t k = 0; k < s->n; k++)
		for (size_t i = 0; i < s->suite.n; i++)
			if (s->suite.members[i].kind != ADVERSARIAL)
				fprintf(g, "%.3f %.6g\n",
					(double)(s->n - k) + (double)(i * 7 % 11) / 25 -
						0.2,
					s->verdicts[k].scores[i].ratio);
	fputs("EOD\n$means << EOD\n", g);
	for (size_t k = 0; k < s->n; k++)
		fprintf(g, "%zu %.6g\n", s->n - k, s->verdicts[k].mean);
	fputs("EOD\n", g);
}

static void write_panel(FILE *g, const struct series *s)
{
	write_dots(g, s);
	fprintf(g, "set title 'B = %llu us'\n", (unsigned long long)s->block_ns / 1000);
	fputs("set ytics (", g);
	for (size_t k = 0; k < s->n; k++)
		fprintf(g, "%s'%s' %zu", k ? ", " : "", s->verdicts[k].name, s->n - k);
	fprintf(g, ")\nset yrange [0.4:%zu.6]\n", s->n);
	fprintf(g, "plot $dots using 2:1 with points pt 7 ps 0.45 lc rgb '#803070b0' title "
		   "'member',"
		   " $means using 2:1 with points pt 5 ps 0.9 lc rgb '#c03020' title "
		   "'suite mean'\n");
}

static void write_script(FILE *g, const void *results)
{
	const struct results *r = results;
	size_t rows = r->series[0].n;
	size_t columns = r->n < 2 ? 1 : 2;
	size_t lines = (r->n + columns - 1) / columns;

	fprintf(g, "set terminal svg size %zu,%zu font 'sans,12' background '#ffffff'\n",
		columns * PANEL_WIDTH, lines * (rows * ROW_HEIGHT + FRAME_HEIGHT));
	fprintf(g,
		"set multiplot layout %zu,%zu title 'cost / offline optimum; dotted: the "
		"bar of the suite mean'\n",
		lines, columns);
	fputs("set logscale x\nset xrange [0.95:100]\nset grid x\n"
	      "set xtics (1, 1.5, 2, 3, 5, 10, 30, 100)\n"
	      "set arrow from 1.2, graph 0 to 1.2, graph 1 nohead dt 3 lc rgb '#c03020'\n"
	      "set key below\nset border 3\nset tics nomirror\n",
	      g);
	for (size_t i = 0; i < r->n; i++)
		write_panel(g, &r->series[i]);
	fputs("unset multiplot\n", g);
}

int picture_draw(FILE *f, const struct results *r)
{
	return gnuplot_draw(f, write_script, r);
}
