/* libfuzzer - the same body under clang's fuzzer. */
#include <stddef.h>
#include <stdint.h>

int rd_fuzz_one(const uint8_t *bytes, size_t size_bytes);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	rd_fuzz_one(bytes, size_bytes);
	return 0;
}
