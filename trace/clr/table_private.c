/*
 * The better known events of the runtime's private provider. None of them is
 * needed for a profile; their names are for `inspect` and `events`.
 */
#include "trace/catalogue.h"

#define PROVIDER       "Microsoft-Windows-DotNETRuntimePrivate"
#define NAME(ID, NAME) RD_ROW(PROVIDER, ID, 0, NAME, OTHER, NONE, NULL)

static const struct rd_event_type rows[] = {
	NAME(1, "GCDecision"),
	NAME(2, "GCSettings"),
	NAME(3, "GCOptimized"),
	NAME(4, "GCPerHeapHistory"),
	NAME(5, "GCGlobalHeapHistory"),
	NAME(6, "GCJoin"),
	NAME(7, "PrvGCMarkStackRoots"),
	NAME(8, "PrvGCMarkFinalizeQueueRoots"),
	NAME(9, "PrvGCMarkHandles"),
	NAME(10, "PrvGCMarkCards"),
	NAME(11, "BGCBegin"),
	NAME(12, "BGC1stNonConEnd"),
	NAME(13, "BGC1stConEnd"),
	NAME(14, "BGC2ndNonConBegin"),
	NAME(15, "BGC2ndNonConEnd"),
	NAME(16, "BGC2ndConBegin"),
	NAME(17, "BGC2ndConEnd"),
	NAME(18, "BGCPlanEnd"),
	NAME(19, "BGCSweepEnd"),
	NAME(20, "BGCDrainMark"),
	NAME(21, "BGCRevisit"),
	NAME(22, "BGCOverflow"),
	NAME(23, "BGCAllocWaitBegin"),
	NAME(24, "BGCAllocWaitEnd"),
	NAME(25, "GCFullNotify"),
	NAME(80, "EEStartupStart"),
	NAME(81, "EEStartupEnd"),
	NAME(158, "ModuleRangeLoadPrivate"),
	NAME(188, "NgenBindEvent"),
	NAME(191, "FailFast"),
	NAME(192, "PrvFinalizeObject"),
	NAME(193, "CCWRefCountChange"),
	NAME(194, "PrvSetGCHandle"),
	NAME(195, "PrvDestroyGCHandle"),
	NAME(199, "PinPlugAtGCTime"),
	NAME(201, "MulticoreJit"),
	NAME(202, "MulticoreJitMethodCodeReturned"),
};

const struct rd_event_table rd_table_clr_private = {
	.identity = RD_IDENTITY_EVENT,
	.provider = PROVIDER,
	.guid = RD_GUID(0x763fd754, 0x7086, 0x4dfe, 0x95, 0xeb, 0xc0, 0x1a, 0x46, 0xfa, 0xf4, 0xca),
	.rows = rows,
	.n = RD_ROW_COUNT(rows),
};
