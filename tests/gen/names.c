#include "tests/gen/names.h"

#include <stdio.h>

#define SAY(field, ...) snprintf((field), sizeof(field), __VA_ARGS__)

void gen_method_name(uint32_t no, struct gen_method_name *out)
{
	static const char *const types[] = {"void", "int32", "instance class System.String", "bool"};
	static const char *const arguments[] = {"", "int32", "class System.Object,int32",
						"!!0&,valuetype Pair`2<int32,!!1>"};

	SAY(out->ns, no % 11 == 3 ? "Shop.List`1[System.__Canon]" : "Shop.Area%u.Type%u", no % 5, no / 7);
	/* Characters of one, two, three and four bytes; separators of other formats. */
	if (no % 13 == 5)
		SAY(out->name, "Größe%u€😀", no);
	else if (no % 13 == 7)
		SAY(out->name, "<Main>g__Local|%u_0;%%", no);
	else
		SAY(out->name, "Method%u", no);
	SAY(out->signature, "%s  (%s)", types[no % 4], arguments[no / 4 % 4]);
}

void gen_module_path(uint32_t no, struct gen_path *out)
{
	static const struct {
		const char *folder, *name, *end;
	} forms[] = {{"C:\\app\\", "Mod", ".dll"},
		     {"/usr/lib/app/", "Mod.", ".dll"},
		     {"", "Dynamic", ""},
		     {"/app/", "Über", ".exe"}};

	SAY(out->shown, "%s%u", forms[no % 4].name, no);
	SAY(out->path, "%s%s%s", forms[no % 4].folder, out->shown, forms[no % 4].end);
}

void gen_image_path(uint32_t no, struct gen_path *out)
{
	SAY(out->path, "\\Device\\HarddiskVolume2\\Windows\\image%u.%s", no, no % 3 ? "dll" : "sys");
	SAY(out->shown, "image%u.%s", no, no % 3 ? "dll" : "sys");
}

void gen_mapping_path(uint32_t no, struct gen_path *out)
{
	if (no % 4 == 3)
		SAY(out->shown, "%s", no % 8 == 3 ? "" : "memfd:doublemapper (deleted)");
	else
		SAY(out->shown, "lib%u.so.1", no);
	SAY(out->path, "%s%s", no % 8 == 3 ? "" : no % 4 == 3 ? "/" : "/usr/lib/", out->shown);
}

void gen_symbol_name(uint32_t no, bool compiled, struct gen_symbol_name *out)
{
	static const struct {
		const char *text;
		uint32_t tier;
	} tiers[] = {{"Optimized", 2}, {"QuickJitted", 3}, {"OptimizedTier1", 4}, {"ReadyToRun", 100}};
	struct gen_method_name m;
	struct gen_path module;

	if (!compiled) {
		SAY(out->text, "%.*sfunction_%u", (int)(no % 4), "___", no / 4);
		return;
	}
	out->method = no / 4;
	out->module = no / 4 % 3;
	out->tier = tiers[no % 4].tier;
	gen_method_name(out->method, &m);
	gen_module_path(out->module, &module);
	/* The signature is "RET  (ARGS)". */
	int returns = 0;
	while (m.signature[returns] && (m.signature[returns] != ' ' || m.signature[returns + 1] != ' '))
		returns++;
	SAY(out->text, "%.*s [%s] %s::%s%s[%s]", returns, m.signature, module.shown, m.ns, m.name,
	    m.signature + returns + 2, tiers[no % 4].text);
}
