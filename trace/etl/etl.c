#include "trace/etl/etl.h"

#include "trace/description.h"
#include "trace/etl/index.h"
#include "trace/etl/reader.h"
#include "trace/etl/records.h"

/*
 * An ETL file has no magic number: it is known by the record of the header
 * event behind its first buffer's header, of whatever version.
 */
static bool probe(const uint8_t *head, size_t size_bytes)
{
	const size_t first = 0x48;

	if (size_bytes < first + 8)
		return false;
	const uint8_t *p = head + first;
	return (p[2] == 1 || p[2] == 2) && p[3] == 0xc0 && p[6] == 0 && p[7] == 0 && rd_le32(head) > first;
}

const struct rd_format rd_format_etl = {
	.id = RD_FORMAT_ETL,
	.name = "etl",
	.probe = probe,
	.index = rd_etl_index,
	.decoder_new = rd_etl_decoder_new,
	.decoder_context = rd_etl_decoder_context,
	.decoder_blocks = rd_etl_decoder_blocks,
	.decoder_free = rd_etl_decoder_free,
	.describe = rd_describe_etl,
	.self_description = rd_etl_self_description,
};
