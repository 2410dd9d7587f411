#include "tests/support.h"

#include "net/message.h"
#include "net/task.h"
#include "net/wire_error.h"

static void blobs_share_their_bytes(void **state)
{
	struct rd_blob a = {0}, b = {0};
	struct rd_bytes room = {0};
	struct rd_span whole;
	struct rd_error err;

	assert_ok(rd_blob_whole(&a, &room, &whole, &err), &err);
	assert_int_equal(0, whole.size_bytes);
	assert_ok(rd_blob_add(&a, "", 0, &err), &err);
	assert_int_equal(0, a.frames.n);
	assert_ok(rd_blob_add(&a, "one", 3, &err), &err);
	assert_ok(rd_blob_whole(&a, &room, &whole, &err), &err);
	assert_span(whole, "one");
	assert_int_equal(0, room.n);
	assert_ok(rd_blob_add(&a, "two", 3, &err), &err);
	assert_ok(rd_blob_share(&b, &a, &err), &err);
	rd_blob_release(&a);
	assert_int_equal(6, b.size_bytes);
	assert_ok(rd_blob_whole(&b, &room, &whole, &err), &err);
	assert_span(whole, "onetwo");
	assert_span(rd_blob_frame(&b, 1), "two");
	rd_blob_release(&b);
	rd_bytes_release(&room);
}

static void a_blob_has_a_last_frame(void **state)
{
	struct rd_blob b = {0};
	struct rd_error err;

	for (int i = 0; i < RD_BLOB_FRAMES_MAX - 1; i++)
		assert_ok(rd_blob_add(&b, "x", 1, &err), &err);
	/* What does not fit whole leaves all as it was. */
	uint8_t *big = calloc(1, RD_FRAME_BYTES + 1);
	assert_code(RD_LIMIT, rd_blob_add(&b, big, RD_FRAME_BYTES + 1, &err));
	assert_int_equal(RD_BLOB_FRAMES_MAX - 1, b.size_bytes);
	assert_int_equal(RD_BLOB_FRAMES_MAX - 1, b.frames.n);
	assert_ok(rd_blob_add(&b, big, RD_FRAME_BYTES, &err), &err);
	assert_code(RD_LIMIT, rd_blob_add(&b, "x", 1, &err));
	free(big);
	rd_blob_release(&b);
}

static void an_envelope_there_and_back(void **state)
{
	Rd__Envelope e = rd_envelope(RD__KIND__FAILED), *back;
	struct rd_bytes packed = {0};
	Rd__Error error;
	struct rd_error err, why, got;

	rd_fail(&why, RD_CORRUPT, "a block of length 0");
	rd_error_at(&why, why.code, "/t/a.nettrace", 77);
	rd_error_in(&why, why.code, "shard 3");
	rd_wire_error(&error, &why, true);
	e.job = rd_field("j");
	e.error = &error;
	assert_ok(rd_envelope_pack(&e, &packed, &err), &err);
	assert_ok(rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &back, &err), &err);
	assert_int_equal(RD_PROTOCOL_VERSION, back->protocol);
	rd_wire_error_take(&got, back->error);
	assert_true(back->error->retry);
	assert_int_equal(RD_CORRUPT, got.code);
	assert_string_equal("a block of length 0", got.text);
	assert_string_equal("/t/a.nettrace", got.file);
	assert_string_equal("shard 3: ", got.context);
	assert_int_equal(77, got.offset);
	rd_envelope_free(back);

	/* Every way of cutting it: no message, or one with less in it, never a crash. */
	for (size_t n = 0; n < packed.n; n++)
		if (rd_envelope_unpack((struct rd_span){packed.at, n}, &back, &err) == 0)
			rd_envelope_free(back);
		else
			assert_int_equal(RD_PROTOCOL, err.code);
	rd_bytes_release(&packed);
}

static void errors_of_other_ages(void **state)
{
	Rd__Error e = RD__ERROR__INIT;
	struct rd_error got;

	e.code = -999;
	rd_wire_error_take(&got, &e);
	assert_int_equal(RD_INTERNAL, got.code);
	e.code = 5;
	rd_wire_error_take(&got, &e);
	assert_int_equal(RD_INTERNAL, got.code);
	rd_wire_error_take(&got, NULL);
	assert_int_equal(RD_INTERNAL, got.code);
	assert_int_equal(RD_NO_OFFSET, got.offset);
	assert_true(rd_wire_error_retry(RD_IO));
	assert_false(rd_wire_error_retry(RD_UNSUPPORTED));
	assert_false(rd_wire_error_retry(RD_CHANGED));
}

static void fields_are_cut_to_their_room(void **state)
{
	ProtobufCBinaryData f = rd_field("abcdef");
	char small[4];

	assert_string_equal("abc", rd_field_text(&f, small, sizeof small));
	f = rd_field(NULL);
	assert_string_equal("", rd_field_text(&f, small, sizeof small));
	assert_int_equal(0, rd_field_span(&f).size_bytes);
}

static void a_bomb_stays_within_its_budget(void **state)
{
	/* Submit.path, empty, half a million times: 1 MiB that wants to be 8 and more. */
	size_t n = 500000, body = n * 2;
	struct rd_bytes b = {0};
	Rd__Envelope *e = NULL;
	struct rd_error err;
	uint8_t head[] = {0xd2, 0x01, (uint8_t)(body & 0x7f) | 0x80, (uint8_t)(body >> 7 & 0x7f) | 0x80,
			  (uint8_t)(body >> 14)};

	rd_bytes_append(&b, head, sizeof head);
	for (size_t i = 0; i < n; i++)
		rd_bytes_append(&b, "\x0a\x00", 2);
	int rc = rd_envelope_unpack((struct rd_span){b.at, b.n}, &e, &err);
	/* Eight megabytes of pointers are within the budget; each empty path costs its piece as well, and that is not.
	 */
	assert_int_equal(RD_PROTOCOL, rc);
	assert_non_null(strstr(err.text, "more than it may"));
	rd_bytes_release(&b);

	uint8_t *long_one = calloc(1, RD_ENVELOPE_BYTES + 1);
	assert_code(RD_PROTOCOL, rd_envelope_unpack((struct rd_span){long_one, RD_ENVELOPE_BYTES + 1}, &e, &err));
	free(long_one);
}

static void out_of_memory_is_told_from_rubbish(void **state)
{
	Rd__Envelope e = rd_envelope(RD__KIND__SUBMITTED), *back;
	struct rd_bytes packed = {0};
	int refused = 0;

	e.job = rd_field("some job");
	assert_ok(rd_envelope_pack(&e, &packed, NULL), NULL);
	for (uint64_t nth = 1;; nth++) {
		rd_fail_allocation(nth);
		int rc = rd_envelope_unpack((struct rd_span){packed.at, packed.n}, &back, NULL);
		rd_fail_allocation(0);
		if (rc == 0)
			break;
		assert_int_equal(RD_NOMEM, rc);
		refused++;
	}
	assert_int_equal(2, refused);
	rd_envelope_free(back);
	rd_bytes_release(&packed);
}

static void an_envelope_can_be_too_long(void **state)
{
	Rd__Envelope e = rd_envelope(RD__KIND__SUBMITTED);
	struct rd_bytes packed = {0};
	char *text = malloc(RD_ENVELOPE_BYTES + 2);

	memset(text, 'x', RD_ENVELOPE_BYTES + 1);
	text[RD_ENVELOPE_BYTES + 1] = 0;
	e.job = rd_field(text);
	assert_code(RD_LIMIT, rd_envelope_pack(&e, &packed, NULL));
	assert_int_equal(0, packed.n);
	free(text);
}

static struct rd_span span(const char *text)
{
	return (struct rd_span){(const uint8_t *)text, strlen(text)};
}

static void the_parts_of_a_task(void **state)
{
	Rd__Assignment work = RD__ASSIGNMENT__INIT;
	struct rd_task_parts got;
	struct rd_blob blob = {0};
	struct rd_bytes room = {0};
	struct rd_error err;

	assert_ok(rd_task_pack(&blob, &work, &(struct rd_task_parts){span("info"), span(""), span("blocks")}, &err),
		  &err);
	assert_int_equal(1, blob.frames.n);
	assert_ok(rd_task_split(&blob, &work, &room, &got, &err), &err);
	assert_span(got.info, "info");
	assert_int_equal(0, got.context.size_bytes);
	assert_span(got.blocks, "blocks");
	/* One byte more, one less, and sums that wrap round. */
	work.blocks_bytes++;
	assert_code(RD_PROTOCOL, rd_task_split(&blob, &work, &room, &got, &err));
	work.blocks_bytes -= 2;
	assert_code(RD_PROTOCOL, rd_task_split(&blob, &work, &room, &got, &err));
	work.context_bytes = UINT64_MAX;
	assert_code(RD_PROTOCOL, rd_task_split(&blob, &work, &room, &got, &err));
	rd_blob_release(&blob);

	/* Long parts come in several frames. */
	struct rd_bytes big = {0};
	for (uint32_t i = 0; i < RD_FRAME_BYTES / 4 + 1000; i++)
		rd_bytes_append(&big, &i, 4);
	struct rd_task_parts parts = {span("info"), {big.at, 1000}, {big.at, big.n}};
	assert_ok(rd_task_pack(&blob, &work, &parts, &err), &err);
	assert_int_equal(4, blob.frames.n);
	assert_ok(rd_task_split(&blob, &work, &room, &got, &err), &err);
	assert_int_equal(big.n, got.blocks.size_bytes);
	assert_memory_equal(big.at, got.blocks.at, big.n);
	assert_memory_equal(big.at, got.context.at, 1000);
	rd_blob_release(&blob);
	rd_bytes_release(&big);
	rd_bytes_release(&room);
}

static void the_infos_of_a_finish(void **state)
{
	struct rd_bytes packed = {0}, room = {0};
	struct rd_blob blob = {0};
	rd_span_vec got = {0};
	struct rd_error err;

	assert_ok(rd_infos_pack(&packed, span("one"), &err), &err);
	assert_ok(rd_infos_pack(&packed, span(""), &err), &err);
	assert_ok(rd_infos_pack(&packed, span("three"), &err), &err);
	assert_ok(rd_blob_add(&blob, packed.at, packed.n, &err), &err);
	assert_ok(rd_infos_split(&blob, &room, 3, &got, &err), &err);
	assert_span(got.at[0], "one");
	assert_int_equal(0, got.at[1].size_bytes);
	assert_span(got.at[2], "three");
	got.n = 0;
	assert_code(RD_PROTOCOL, rd_infos_split(&blob, &room, 2, &got, &err));
	rd_blob_release(&blob);
	for (size_t cut = 0; cut < packed.n; cut++) {
		got.n = 0;
		assert_ok(rd_blob_add(&blob, packed.at, cut, &err), &err);
		assert_code(RD_PROTOCOL, rd_infos_split(&blob, &room, 3, &got, &err));
		rd_blob_release(&blob);
	}
	rd_vec_release(&got);
	rd_bytes_release(&packed);
	rd_bytes_release(&room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blobs_share_their_bytes),
		cmocka_unit_test(a_blob_has_a_last_frame),
		cmocka_unit_test(an_envelope_there_and_back),
		cmocka_unit_test(errors_of_other_ages),
		cmocka_unit_test(fields_are_cut_to_their_room),
		cmocka_unit_test(a_bomb_stays_within_its_budget),
		cmocka_unit_test(out_of_memory_is_told_from_rubbish),
		cmocka_unit_test(an_envelope_can_be_too_long),
		cmocka_unit_test(the_parts_of_a_task),
		cmocka_unit_test(the_infos_of_a_finish),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
