/*
 * error - what went wrong, where, and through which layers it came.
 *
 * Every function that can fail returns 0 (or a count) on success and a
 * negative enum rd_code on failure, and takes a struct rd_error * last (NULL
 * is allowed: the code still comes back). The struct holds no pointers, so it
 * may be copied, stored and sent.
 * Threads: a struct belongs to its caller; no global state.
 */
#ifndef RD_BASE_ERROR_H
#define RD_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum rd_code {
	RD_OK = 0,
	RD_TRUNCATED = -1,   /* the input ends inside something */
	RD_CORRUPT = -2,     /* the bytes contradict the format */
	RD_UNSUPPORTED = -3, /* a valid input that this build does not read */
	RD_LIMIT = -4,       /* a limit of time, memory, depth or output was reached */
	RD_NOMEM = -5,       /* an allocation failed */
	RD_IO = -6,          /* the system refused a read, write, open, … */
	RD_NOT_FOUND = -7,
	RD_EXISTS = -8,
	RD_CHANGED = -9,   /* the trace is not the one that was planned */
	RD_USAGE = -10,    /* the caller's or the user's words are off */
	RD_PROTOCOL = -11, /* a peer sent what it must not */
	RD_CANCELLED = -12,
	RD_INTERNAL = -13, /* an invariant of ours does not hold */
};

#define RD_NO_OFFSET UINT64_MAX

struct rd_error {
	int code;          /* enum rd_code */
	int sys_errno;     /* errno behind RD_IO, else 0 */
	uint64_t offset;   /* byte in the file, RD_NO_OFFSET when it has none */
	char file[256];    /* the file it is about; "" when none; a long path keeps its end */
	char text[256];    /* one line, no newline, no final stop */
	char context[256]; /* outer layers, "reading the index: shard 3: "; "" when none */
};

/* Forget everything: code RD_OK, no offset. */
void rd_error_clear(struct rd_error *err);

/* Record a failure (printf format) and return its code, so that callers write `return rd_fail(…)`. */
int rd_fail(struct rd_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Like rd_fail with RD_IO, appending strerror(errno); RD_NOMEM for ENOMEM. */
int rd_fail_errno(struct rd_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* RD_NOMEM with a fixed text. */
int rd_fail_nomem(struct rd_error *err);

/*
 * For the end of a way on which not everybody had the struct: a failure that nobody recorded gets its code and the
 * code's words; what is recorded stays. *err was cleared before the way began. Returns code.
 */
int rd_error_settle(struct rd_error *err, int code);

/*
 * Name the file and byte if the error has none yet. file may be NULL, offset RD_NO_OFFSET.
 * Returns code, which is the caller's and also comes back for err NULL, so that callers
 * write `return rd_error_at(err, rd_fail(err, …), path, RD_NO_OFFSET)`; err keeps its own.
 */
int rd_error_at(struct rd_error *err, int code, const char *file, uint64_t offset);

/* Put an outer layer in front ("decoding shard 3"); returns code, as rd_error_at. */
int rd_error_in(struct rd_error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * One line for people: "context: text (file, at byte N)". Writes at most size
 * bytes with the NUL and returns buf.
 */
const char *rd_error_line(const struct rd_error *err, char *buf, unsigned size);

/* "truncated", "corrupt", …: the stable word for a code, for logs and JSON. */
const char *rd_code_name(int code);

#endif
