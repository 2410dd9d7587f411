#include "deploy/windows/plan.h"

#include <stddef.h>
#include <string.h>

#include "base/text.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime", "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown", "a669021c-c450-4609-a035-5af59af4df18"

/* Loader 0x8, Jit 0x10, NGen 0x20; EndEnumeration 0x80 of the runtime, start 0x40 and end 0x100 of the rundown. */
const struct plan_provider plan_providers[PLAN_PROVIDERS] = {
	[PLAN_RUNTIME] = {RUNTIME, 4, 0x8 | 0x10 | 0x20 | 0x80},
	[PLAN_RUNDOWN_START] = {RUNDOWN, 4, 0x8 | 0x10 | 0x20 | 0x40},
	[PLAN_RUNDOWN_END] = {RUNDOWN, 4, 0x8 | 0x10 | 0x20 | 0x100},
};

const char plan_help[] =
	"Usage: rundown-record [option...] FILE.etl\n\n"
	"Record sampled stacks of all processes and the names of .NET code into FILE.etl; as an administrator.\n"
	"Ctrl-C ends it, with an end rundown.\n\n"
	"  --seconds N            end by itself after so long\n"
	"  --every N              seconds between keyframes, 0 for none (default 300); no less than Windows allows\n"
	"  --rundown-seconds N    time for the end rundown to be written (default 30)\n"
	"  --interval-us N        microseconds between samples (default 1000)\n"
	"  --buffer-kb N          of each buffer (default 1024)\n"
	"  --buffers N            at most so many (default 512)\n";

static const struct {
	const char *name;
	size_t at;
	uint32_t least, most;
} numbers[] = {
	{"--seconds", offsetof(struct plan, seconds), 1, 7 * 86400},
	{"--every", offsetof(struct plan, every_s), 0, 86400},
	{"--rundown-seconds", offsetof(struct plan, rundown_s), 1, 3600},
	/* The kernel takes no less than 0.1221 ms and no more than a second. */
	{"--interval-us", offsetof(struct plan, interval_us), 123, 1000000},
	{"--buffer-kb", offsetof(struct plan, buffer_kb), 4, 16384},
	{"--buffers", offsetof(struct plan, buffers), 4, 16384},
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static bool read_number(const char *text, uint32_t least, uint32_t most, uint32_t *value)
{
	uint64_t v = 0;

	if (text == NULL || *text == 0)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		v = v * 10 + (uint64_t)(*text - '0');
		if (v > most)
			return false;
	}
	*value = (uint32_t)v;
	return v >= least;
}

static int read_option(struct plan *p, const char *name, const char *text, struct rd_error *err)
{
	for (size_t i = 0; i < NUMBERS; i++) {
		uint32_t value;
		if (strcmp(name, numbers[i].name) != 0)
			continue;
		if (!read_number(text, numbers[i].least, numbers[i].most, &value))
			return rd_fail(err, RD_USAGE, "%s wants a number from %u to %u", name,
				       (unsigned)numbers[i].least, (unsigned)numbers[i].most);
		memcpy((uint8_t *)p + numbers[i].at, &value, sizeof value);
		return 0;
	}
	return rd_fail(err, RD_USAGE, "unknown option %s; --help tells which there are", name);
}

int plan_read(struct plan *p, int argc, char **argv, struct rd_error *err)
{
	int rc = 0;

	*p = (struct plan){.every_s = 300, .rundown_s = 30, .interval_us = 1000, .buffer_kb = 1024, .buffers = 512};
	for (int i = 1; i < argc && rc == 0; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			p->help = true;
			return 0;
		}
		if (argv[i][0] == '-') {
			rc = read_option(p, argv[i], i + 1 < argc ? argv[i + 1] : NULL, err);
			i++;
		} else if (p->file || argv[i][0] == 0) {
			rc = rd_fail(err, RD_USAGE, "one word too many: '%s'", argv[i]);
		} else {
			p->file = argv[i];
		}
	}
	if (rc == 0 && p->file == NULL)
		rc = rd_fail(err, RD_USAGE, "FILE.etl is missing; --help tells more");
	return rc;
}

int plan_capture(const struct plan *p, uint32_t least_s, struct rd_bytes *out, uint32_t *every_s, struct rd_error *err)
{
	struct rd_capture_guid runtime;

	*every_s = p->every_s && p->every_s < least_s ? least_s : p->every_s;
	if (p->every_s == 0)
		return 0;
	int rc = rd_guid_parse(plan_providers[PLAN_RUNTIME].guid, runtime.bytes);
	return rc < 0 ? rc : rd_capture_write(out, *every_s, &runtime, 1, err);
}
