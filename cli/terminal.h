/*
 * terminal - how a text is shown to people: the width of their terminal, colours, a pager.
 *
 * Only where an answer goes to a terminal; in pipes and files it is plain and
 * whole. NO_COLOR, TERM, PAGER and LESS mean what they mean to other tools.
 */
#ifndef RD_CLI_TERMINAL_H
#define RD_CLI_TERMINAL_H

#include "cli/options.h"
#include "cli/output.h"

struct rd_people_words {
	int color; /* enum rd_color */
	bool no_pager;
};
enum rd_color { RD_COLOR_AUTO, RD_COLOR_ALWAYS, RD_COLOR_NEVER };
extern const char *const rd_color_words[];

/* Rows of the table of options of whoever shows a text. */
#define RD_OPTIONS_PEOPLE(w)                                                                                           \
	{.name = "color",                                                                                              \
	 .argument = "WHEN",                                                                                           \
	 .help = "colours (default auto: on a terminal, unless NO_COLOR is set)",                                      \
	 .kind = RD_OPT_CHOICE,                                                                                        \
	 .target = &(w)->color,                                                                                        \
	 .words = rd_color_words},                                                                                     \
	{                                                                                                              \
		.name = "no-pager",                                                                                    \
		.help = "not through $RUNDOWN_PAGER, $PAGER or less, where the output is a terminal",                  \
		.kind = RD_OPT_FLAG, .target = &(w)->no_pager                                                          \
	}

/* The columns of the terminal behind a descriptor; 0: it is none. */
unsigned rd_terminal_columns(int fd);
bool rd_terminal_has_colors(int fd, int color);
/*
 * Of an output that is just open and will be a text: its columns and colours; and if it is the terminal a pager, for
 * which rd_output_close waits. Without a pager it goes to the terminal as it is.
 */
int rd_output_for_people(struct rd_output *o, const struct rd_people_words *w, struct rd_error *err);

#endif
