/*
 * names - what numbers are called in a made-up trace. All UTF-8.
 */
#ifndef RD_TESTS_GEN_NAMES_H
#define RD_TESTS_GEN_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct gen_method_name {
	char ns[96], name[96], signature[96];
};
void gen_method_name(uint32_t no, struct gen_method_name *out);

/* A path as events have it, and what a report makes of it. */
struct gen_path {
	char path[96], shown[64];
};
void gen_module_path(uint32_t no, struct gen_path *out);
void gen_image_path(uint32_t no, struct gen_path *out);
void gen_mapping_path(uint32_t no, struct gen_path *out);

/* Of compiled code: the method's number and its module's, and a tier as reports number it. */
struct gen_symbol_name {
	char text[384];
	uint32_t method, module, tier;
};
void gen_symbol_name(uint32_t no, bool compiled, struct gen_symbol_name *out);

#endif
