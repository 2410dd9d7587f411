/*
 * The events of the runtime's rundown provider: docs/formats/clr.md, "Rundown".
 *
 * The same numbers mean other events in the runtime's own provider
 * (table_runtime.c). DCStart says that something was there when a rundown
 * began, DCEnd that it was there when one ended.
 */
#include "trace/catalogue.h"
#include "trace/clr/decoders.h"

#define PROVIDER                            "Microsoft-Windows-DotNETRuntimeRundown"
#define ROW(ID, NAME, KIND, OPCODE, DECODE) RD_ROW(PROVIDER, ID, 0, NAME, KIND, OPCODE, DECODE)
#define NAME(ID, NAME)                      RD_ROW(PROVIDER, ID, 0, NAME, OTHER, NONE, NULL)

static const struct rd_event_type rows[] = {
	NAME(0, "CLRStackWalkDCStart"),
	NAME(10, "GCSettingsRundown"),
	ROW(141, "MethodDCStart", METHOD, DCSTART, rd_clr_method),
	ROW(142, "MethodDCEnd", METHOD, DCEND, rd_clr_method),
	ROW(143, "MethodDCStartVerbose", METHOD, DCSTART, rd_clr_method_verbose),
	ROW(144, "MethodDCEndVerbose", METHOD, DCEND, rd_clr_method_verbose),
	ROW(145, "DCStartComplete", MARKER, NONE, rd_clr_start_complete),
	ROW(146, "DCEndComplete", MARKER, NONE, rd_clr_end_complete),
	ROW(147, "DCStartInit", MARKER, NONE, rd_clr_start_init),
	ROW(148, "DCEndInit", MARKER, NONE, rd_clr_end_init),
	NAME(149, "MethodDCStartILToNativeMap"),
	NAME(150, "MethodDCEndILToNativeMap"),
	ROW(151, "DomainModuleDCStart", MODULE, DCSTART, rd_clr_domain_module),
	ROW(152, "DomainModuleDCEnd", MODULE, DCEND, rd_clr_domain_module),
	ROW(153, "ModuleDCStart", MODULE, DCSTART, rd_clr_module),
	ROW(154, "ModuleDCEnd", MODULE, DCEND, rd_clr_module),
	NAME(155, "AssemblyDCStart"),
	NAME(156, "AssemblyDCEnd"),
	NAME(157, "AppDomainDCStart"),
	NAME(158, "AppDomainDCEnd"),
	NAME(159, "ThreadDC"),
	NAME(160, "ModuleRangeDCStart"),
	NAME(161, "ModuleRangeDCEnd"),
	ROW(187, "RuntimeInformationDCStart", RUNTIME, NONE, rd_clr_runtime_information),
	NAME(188, "CodeSymbolsRundown"),
	NAME(280, "TieredCompilationSettingsDCStart"),
	NAME(300, "ExecutionCheckpointDCEnd"),
};

const struct rd_event_table rd_table_clr_rundown = {
	.identity = RD_IDENTITY_EVENT,
	.provider = PROVIDER,
	.guid = RD_GUID(0xa669021c, 0xc450, 0x4609, 0xa0, 0x35, 0x5a, 0xf5, 0x9a, 0xf4, 0xdf, 0x18),
	.rows = rows,
	.n = RD_ROW_COUNT(rows),
};
