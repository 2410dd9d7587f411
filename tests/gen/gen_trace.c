/*
 * gen_trace - write a trace of any size whose right answer is known (docs/generator.md).
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "tests/gen/make.h"
#include "tests/gen/play.h"

static const char help[] =
	"usage: gen_trace -o FILE [--truth FILE] [--size SIZE] [--seed N] [--format "
	"etl|nettrace4|nettrace5|nettrace6]\n"
	"  --small          a few hundred events in which everything collides, of a format that the seed chooses\n"
	"  --still          one act; every method is where it is from before the first sample on, nothing is lost\n"
	"  --sound          enough is told for every frame, nothing is lost\n"
	"  --pointer 4|8    --compress lznt1|xpress|huffman    --clock qpc|system|cycles    (the last two: ETL)\n"
	"  --samples N --lives N --noise N --noise-bytes N --stacks N --depth N --processes N    of an act, some 15 "
	"MB\n"
	"  --lost N --untold N   of 1000 events    --keyframes N    rundowns of each process in the middle of an act\n"
	"Equal options give equal bytes. The truth is JSON in the form of tests/answers.\n";

enum chosen {
	SIZE = 256,
	SEED,
	FORMAT,
	SMALL,
	SOUND,
	STILL,
	POINTER,
	COMPRESS,
	CLOCK,
	TRUTH,
	NUMBER, /* and all behind it: a number of the options */
};

/* Numbers of the options by name. */
static const struct {
	const char *name;
	size_t at;
	uint32_t most; /* 0: any */
} numbers[] = {
	{"samples", offsetof(struct gen_options, samples), 0},
	{"lives", offsetof(struct gen_options, lives), 0},
	{"noise", offsetof(struct gen_options, noise), 0},
	{"noise-bytes", offsetof(struct gen_options, noise_bytes), 0},
	{"stacks", offsetof(struct gen_options, stacks), 0},
	{"depth", offsetof(struct gen_options, depth), 0},
	{"processes", offsetof(struct gen_options, processes), 0},
	{"lanes", offsetof(struct gen_options, lanes), GEN_LANES_MAX},
	{"slots", offsetof(struct gen_options, slots), 0},
	{"lost", offsetof(struct gen_options, lost), 0},
	{"untold", offsetof(struct gen_options, untold), 0},
	{"keyframes", offsetof(struct gen_options, keyframes), 0},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static uint32_t word(const char *text, const char *const *words, const char *what)
{
	for (uint32_t i = 0; words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	fprintf(stderr, "gen_trace: %s is no %s\n", text, what);
	exit(2);
}

static void take(struct gen_options *o, int option, const char *text)
{
	static const char *const formats[] = {"etl", "nettrace4", "nettrace5", "nettrace6", NULL};
	static const char *const compressions[] = {"none", "", "lznt1", "xpress", "huffman", NULL};
	static const char *const clocks[] = {"", "qpc", "system", "cycles", NULL};
	uint64_t number = option > SMALL && option < NUMBER ? 0 : strtoull(text ? text : "", NULL, 10);

	switch (option) {
	case SIZE:
		if (rd_size_parse(text, &o->size_bytes) != 0)
			word(text, (const char *const[]){NULL}, "size");
		o->acts = 0;
		return;
	case FORMAT:
		o->format = word(text, formats, "format");
		return;
	case SOUND:
		o->sound = true;
		o->jitter = o->lost = o->untold = 0;
		return;
	case STILL:
		o->sound = o->still = true;
		o->jitter = o->lost = o->untold = 0;
		o->acts = 1;
		return;
	case POINTER:
		o->pointer_bytes = strcmp(text, "4") == 0 ? 4 : 8;
		return;
	case COMPRESS:
		o->compression = word(text, compressions, "compression");
		return;
	case CLOCK:
		o->clock = word(text, clocks, "clock");
		return;
	default:
		if (option >= NUMBER && numbers[option - NUMBER].most && number > numbers[option - NUMBER].most) {
			fprintf(stderr, "gen_trace: --%s: at most %u\n", numbers[option - NUMBER].name,
				numbers[option - NUMBER].most);
			exit(2);
		}
		if (option >= NUMBER)
			memcpy((uint8_t *)o + numbers[option - NUMBER].at, &(uint32_t){(uint32_t)number}, 4);
	}
}

static const struct option *long_options(void)
{
	static struct option list[12 + NUMBERS] = {
		{"size", 1, NULL, SIZE},         {"seed", 1, NULL, SEED},   {"format", 1, NULL, FORMAT},
		{"small", 0, NULL, SMALL},       {"sound", 0, NULL, SOUND}, {"pointer", 1, NULL, POINTER},
		{"compress", 1, NULL, COMPRESS}, {"clock", 1, NULL, CLOCK}, {"truth", 1, NULL, TRUTH},
		{"still", 0, NULL, STILL},       {"help", 0, NULL, 'h'},
	};

	for (size_t i = 0; i < NUMBERS; i++)
		list[11 + i] = (struct option){numbers[i].name, 1, NULL, (int)(NUMBER + i)};
	return list;
}

static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0) {
		fprintf(stderr, "gen_trace: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

static int write_truth(const struct gen_truth *truth, const struct gen_options *o, const char *path)
{
	struct rd_out out;
	struct rd_error err;
	int fd = create(path);

	rd_out_init(&out, fd);
	gen_truth_json(truth, o, &out);
	int rc = rd_out_close(&out, &err);
	if (rc < 0)
		fprintf(stderr, "gen_trace: %s: %s\n", path, err.text);
	close(fd);
	return rc < 0 ? 1 : 0;
}

/* What the rest builds on: which seed, and a small one or not. */
static void begin(struct gen_options *o, int argc, char **argv)
{
	uint64_t seed = 1;
	bool small = false;
	int c;

	while ((c = getopt_long(argc, argv, "o:h", long_options(), NULL)) != -1) {
		if (c == '?')
			exit(2);
		if (c == 'h') {
			fputs(help, stdout);
			exit(0);
		}
		seed = c == SEED ? strtoull(optarg, NULL, 10) : seed;
		small |= c == SMALL;
	}
	(small ? gen_options_small : gen_options_large)(o, seed);
	optind = 1;
}

int main(int argc, char **argv)
{
	const char *path = NULL, *truth_path = NULL;
	struct gen_options o;
	struct gen_truth truth;
	int c, rc = 0;

	begin(&o, argc, argv);
	while ((c = getopt_long(argc, argv, "o:h", long_options(), NULL)) != -1) {
		path = c == 'o' ? optarg : path;
		truth_path = c == TRUTH ? optarg : truth_path;
		take(&o, c, optarg);
	}
	if (path == NULL || optind < argc) {
		fputs(help, stderr);
		return 2;
	}
	struct gen_output out = {.fd = create(path)};
	gen_play(&o, &out, &truth);
	if (out.sys_errno) {
		fprintf(stderr, "gen_trace: %s: %s\n", path, strerror(out.sys_errno));
		rc = 1;
	}
	close(out.fd);
	if (rc == 0 && truth_path)
		rc = write_truth(&truth, &o, truth_path);
	if (rc == 0 && o.sound && truth.misled) {
		fprintf(stderr, "gen_trace: %llu frames of a sound scenario are not what ran\n",
			(unsigned long long)truth.misled);
		rc = 1;
	}
	gen_truth_release(&truth);
	rd_bytes_release(&out.bytes);
	return rc;
}
