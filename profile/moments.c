#include "profile/moments.h"

int64_t rd_ticks_ns(const struct rd_clock *clock, uint64_t ticks)
{
	__int128 ns = ((__int128)ticks - clock->start_ticks) * 1000000000;

	ns /= clock->frequency_hz ? clock->frequency_hz : 1;
	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

int64_t rd_utc_ns(const struct rd_clock *clock, uint64_t ticks)
{
	int64_t utc;
	int64_t since = rd_ticks_ns(clock, ticks);

	if (__builtin_add_overflow(clock->start_utc_ns, since, &utc))
		return since < 0 ? INT64_MIN : INT64_MAX;
	return utc;
}

uint64_t rd_ticks_from(const struct rd_clock *clock, int64_t utc_ns)
{
	uint64_t low = 0, high = UINT64_MAX;

	/* By halves, because it must agree with rd_utc_ns to the tick, roundings and all. */
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (rd_utc_ns(clock, middle) < utc_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void rd_moments_init(struct rd_moments *m)
{
	*m = (struct rd_moments){.first_utc_ns = INT64_MAX, .last_utc_ns = INT64_MIN, .width_ns = 1};
}

void rd_moments_add_trace(struct rd_moments *m, int64_t start_utc_ns)
{
	if (!m->any_trace || start_utc_ns < m->origin_utc_ns)
		m->origin_utc_ns = start_utc_ns;
	m->any_trace = true;
}

void rd_moments_add_sample(struct rd_moments *m, int64_t utc_ns)
{
	if (utc_ns < m->first_utc_ns)
		m->first_utc_ns = utc_ns;
	if (utc_ns > m->last_utc_ns)
		m->last_utc_ns = utc_ns;
}

static bool wide_enough(const struct rd_moments *m, uint64_t width)
{
	uint64_t first = rd_moments_since(m, m->first_utc_ns) / width;
	uint64_t last = rd_moments_since(m, m->last_utc_ns) / width;

	return last - first < RD_BUCKETS_MAX && last <= UINT32_MAX;
}

void rd_moments_seal(struct rd_moments *m)
{
	static const uint64_t steps[] = {1, 2, 5};

	m->width_ns = 1;
	if (m->first_utc_ns > m->last_utc_ns)
		return;
	rd_moments_add_trace(m, m->first_utc_ns);
	for (uint64_t decade = 1;; decade *= 10) {
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			m->width_ns = steps[i] * decade;
			if (wide_enough(m, m->width_ns))
				return;
		}
	}
}

uint64_t rd_moments_since(const struct rd_moments *m, int64_t utc_ns)
{
	return utc_ns <= m->origin_utc_ns ? 0 : (uint64_t)utc_ns - (uint64_t)m->origin_utc_ns;
}

uint32_t rd_moments_bucket(const struct rd_moments *m, int64_t utc_ns)
{
	if (utc_ns < m->first_utc_ns)
		utc_ns = m->first_utc_ns;
	if (utc_ns > m->last_utc_ns)
		utc_ns = m->last_utc_ns;
	return (uint32_t)(rd_moments_since(m, utc_ns) / m->width_ns);
}

int64_t rd_moments_bucket_end(const struct rd_moments *m, uint32_t bucket)
{
	uint64_t since;
	int64_t end;

	if (__builtin_mul_overflow((uint64_t)bucket + 1, m->width_ns, &since) ||
	    __builtin_add_overflow(m->origin_utc_ns, since, &end))
		return INT64_MAX;
	return end;
}
