#include "report/page.h"

/* The compiler runs in the root of the repository. Data without a type or a size: nothing needs more on any ELF. */
__asm__(".pushsection .rodata\n"
	"rd_page_begin: .incbin \"report/page.html\"\n"
	"rd_page_end: .byte 0\n"
	".popsection\n");

extern const uint8_t rd_page_begin[] __attribute__((visibility("hidden")));
extern const uint8_t rd_page_end[] __attribute__((visibility("hidden")));

struct rd_span rd_page(void)
{
	return (struct rd_span){rd_page_begin, (size_t)(rd_page_end - rd_page_begin)};
}

void rd_page_close(struct rd_out *out)
{
	rd_out_text(out, "</script>\n</body>\n</html>\n");
}
