/*
 * support - what the unit tests share: cmocka with what it needs, assertions
 * that name errors, scratch folders, shared traces, skips with a reason.
 */
#ifndef RD_TESTS_SUPPORT_H
#define RD_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cursor.h"
#include "base/error.h"

/*
 * assert_ok(call(…, &err), &err): the call returned no negative code. Prints
 * code, text, file and offset of the error otherwise. err may be NULL.
 */
#define assert_ok(expr, err)    rd_assert_ok((int64_t)(expr), (err), #expr, __FILE__, __LINE__)
/* The call failed with exactly this code. */
#define assert_code(code, expr) rd_assert_code((code), (int64_t)(expr), #expr, __FILE__, __LINE__)
/* The bytes of a span against a C string. */
#define assert_span(span, text) rd_assert_span((span), (text), __FILE__, __LINE__)

void rd_assert_ok(int64_t result, const struct rd_error *err, const char *expr, const char *file, int line);
void rd_assert_code(int code, int64_t result, const char *expr, const char *file, int line);
void rd_assert_span(struct rd_span span, const char *text, const char *file, int line);

/* Say why, and count this test as skipped. Does not return. */
#define skip_test(...) rd_skip_test(__FILE__, __LINE__, __VA_ARGS__)
void rd_skip_test(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The path of a file of the repository ("tests/traces/x"); in a static buffer of its own, four of which rotate. */
const char *repository_path(const char *path);
/* The same below the shared folder ($RD_SHARED, else ../shared); skips the test when it is not there. */
const char *shared_path(const char *path);

/* A private folder that is removed, with all in it, when the program ends. The same one on every call. */
const char *scratch_folder(void);
/* The path of `name` in it (rotating buffers, like repository_path). */
const char *scratch_path(const char *name);
/* Write a file there; its path. */
const char *scratch_file(const char *name, const void *bytes, size_t size_bytes);
/* All bytes of a file, NUL-ended, from malloc; fails the test when it cannot be read. */
uint8_t *read_whole(const char *path, size_t *size_bytes);

#endif
