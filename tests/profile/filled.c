#include "tests/profile/filled.h"

#include "tests/random.h"
#include "tests/support.h"

static uint64_t fill_value(enum fill fill, size_t row, uint64_t max)
{
	switch (fill) {
	case FILL_ZERO:
		return 0;
	case FILL_MAX:
		return max;
	case FILL_ALTERNATE:
		return row % 2 ? max : 0;
	case FILL_RISING:
		return row % max;
	case FILL_FALLING:
		return max - row % max;
	default:
		return (next_random() >> next_random() % 64) & max;
	}
}

static void *table_rows(struct rd_partial *p, const struct rd_partial_layout *t, size_t *n)
{
	struct rd_any_vec v;

	if ((const void *)t->columns == (const void *)rd_partial_layout(RD_TABLE_SUMMARY)->columns) {
		*n = 1;
		return &p->summary;
	}
	memcpy(&v, (uint8_t *)p + t->rows_at, sizeof v);
	*n = v.n;
	return v.at;
}

void fill_rows(struct rd_partial *p, const struct rd_partial_layout *t, size_t n, enum fill fill)
{
	struct rd_any_vec v;

	if (t == rd_partial_layout(RD_TABLE_SUMMARY)) {
		n = 1;
	} else {
		memcpy(&v, (uint8_t *)p + t->rows_at, sizeof v);
		assert_int_equal(rd_grow(&v.at, v.n, &v.cap, n, t->row_bytes), 0);
		v.n = n;
		if (n)
			memset(v.at, 0, n * t->row_bytes);
		memcpy((uint8_t *)p + t->rows_at, &v, sizeof v);
	}
	uint8_t *rows = table_rows(p, t, &n);
	for (size_t c = 0; c < t->columns_n; c++) {
		const struct rd_column *column = &t->columns[c];
		uint64_t max = column->max ? column->max : UINT64_MAX >> (64 - 8 * column->row_bytes);
		for (size_t i = 0; i < n; i++) {
			uint64_t value = fill_value(fill, i, max);
			if (column->max && value > max)
				value %= max + 1;
			memcpy(rows + i * t->row_bytes + column->row_at, &value, column->row_bytes);
		}
	}
}

void add_stack(struct rd_partial *p, size_t depth, uint64_t seed)
{
	for (size_t i = 0; i < depth; i++) {
		uint64_t *frame = rd_vec_add(&p->stack_frames);
		assert_non_null(frame);
		*frame = seed == 0 ? 0 : seed == UINT64_MAX ? (i % 2 ? 0 : UINT64_MAX) : seed + i * 17;
	}
	uint64_t *end = rd_vec_add(&p->stack_ends);
	assert_non_null(end);
	*end = p->stack_frames.n;
}

void add_string(struct rd_partial *p, size_t size_bytes, uint8_t first)
{
	uint8_t *text = malloc(size_bytes + 1);

	assert_non_null(text);
	memset(text, 'x', size_bytes);
	for (size_t i = 0; i < size_bytes && i < 8; i++)
		text[i] = i ? (uint8_t)(p->strings.at.n >> (8 * (i - 1))) : first;
	uint32_t id = rd_strings_id(&p->strings, text, size_bytes);
	assert_int_equal(id, p->strings.at.n - 1); /* a new one */
	free(text);
}

void fill_partial(struct rd_partial *p, size_t n, enum fill fill)
{
	for (uint32_t table = 0; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		if (t && t->columns_n)
			fill_rows(p, t, n, fill);
	}
	for (size_t i = 0; i < n && i < 300; i++) {
		add_stack(p, i % 40, fill == FILL_MAX ? UINT64_MAX : fill == FILL_ZERO ? 0 : next_random());
		add_string(p, i == 0 ? 0 : 4 + i % 50, (uint8_t)fill);
	}
}

void assert_same_partial(struct rd_partial *a, struct rd_partial *b)
{
	for (uint32_t table = 0; table < RD_TABLE_END; table++) {
		const struct rd_partial_layout *t = rd_partial_layout(table);
		size_t an, bn;
		if (t == NULL || t->columns_n == 0)
			continue;
		void *ar = table_rows(a, t, &an), *br = table_rows(b, t, &bn);
		assert_int_equal(an, bn);
		for (size_t i = 0; i < an; i++)
			for (size_t c = 0; c < t->columns_n; c++)
				assert_memory_equal((uint8_t *)ar + i * t->row_bytes + t->columns[c].row_at,
						    (uint8_t *)br + i * t->row_bytes + t->columns[c].row_at,
						    t->columns[c].row_bytes);
	}
	assert_int_equal(a->strings.at.n, b->strings.at.n);
	for (size_t i = 0; i < a->strings.at.n; i++) {
		assert_int_equal(a->strings.at.at[i].size_bytes, b->strings.at.at[i].size_bytes);
		if (a->strings.at.at[i].size_bytes)
			assert_memory_equal(a->strings.at.at[i].at, b->strings.at.at[i].at,
					    a->strings.at.at[i].size_bytes);
	}
	assert_int_equal(a->stack_ends.n, b->stack_ends.n);
	assert_int_equal(a->stack_frames.n, b->stack_frames.n);
	if (a->stack_ends.n)
		assert_memory_equal(a->stack_ends.at, b->stack_ends.at, a->stack_ends.n * sizeof *a->stack_ends.at);
	if (a->stack_frames.n)
		assert_memory_equal(a->stack_frames.at, b->stack_frames.at,
				    a->stack_frames.n * sizeof *a->stack_frames.at);
}
