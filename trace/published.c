/*
 * Where the published tables of the runtime's events (".NET Framework: Method ETW Events", "Loader ETW Events",
 * ".NET: runtime method events") and the files disagree. docs/formats/clr.md has the reasons. The runtime's own
 * manifest, ClrEtwAll.man, agrees with the files, whatever an event's metadata calls it.
 */
#include <string.h>

#include "trace/description.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"

#define FLAGS   "; flag 4 is shared generic code and 8 jitted, not \"JIT\" and \"helper\""
#define LEVEL_4 "; its level is 4, not 5"

static const struct {
	const char *provider;
	uint32_t id;
	const char *text;
} table[] = {
	{RUNTIME, 136, "published for this id: MethodLoad_V1, whose id is 141"},
	{RUNTIME, 137, "published for this id: MethodUnLoad_V1 (142) and MethodDCStart_V1 (rundown, 141)"},
	{RUNTIME, 138, "published for this id: MethodDCEnd_V1 (rundown, 142)"},
	{RUNTIME, 141,
	 "published as MethodLoad_V1, id 136 (.NET Framework) or 141 (.NET); 141 is also published as "
	 "MethodDCStartVerbose_V1" FLAGS},
	{RUNTIME, 142,
	 "published as MethodUnLoad_V1, id 137 (.NET Framework) or 142 (.NET); 142 is also published as "
	 "MethodDCEndVerbose_V1" FLAGS},
	{RUNTIME, 143, "published as MethodLoadVerbose_V1, id 143" LEVEL_4 FLAGS},
	{RUNTIME, 144, "published as MethodUnLoadVerbose_V1, id 144" LEVEL_4 FLAGS},
	{RUNTIME, 145, "published as MethodJittingStarted; 145 is also published as DCStartComplete_V1 (rundown)"},
	{RUNTIME, 153, "published as ModuleUnload_V2; 153 is also published as ModuleDCStart_V2 (rundown)"},
	{RUNTIME, 154, "published as AssemblyLoad_V1; 154 is also published as ModuleDCEnd_V2 (rundown)"},
	{RUNTIME, 155, "published as AssemblyUnload_V1; 155 is also published as AssemblyDCStart_V1 (rundown)"},
	{RUNTIME, 156, "published as AppDomainLoad_V1; 156 is also published as AssemblyDCEnd_V1 (rundown)"},
	{RUNTIME, 157, "published as AppDomainUnLoad_V1; 157 is also published as AppDomainDCStart_V1 (rundown)"},
	{RUNTIME, 158, "published as ModuleRange; 158 is also published as AppDomainDCEnd_V1 (rundown)"},
	{RUNDOWN, 141, "published as MethodDCStart_V1, id 137; 141 is published as MethodDCStartVerbose_V1" FLAGS},
	{RUNDOWN, 142, "published as MethodDCEnd_V1, id 138; 142 is published as MethodDCEndVerbose_V1" FLAGS},
	{RUNDOWN, 143,
	 "published as MethodDCStartVerbose_V1, id 141; 143 is published as MethodLoadVerbose_V1" LEVEL_4 FLAGS},
	{RUNDOWN, 144,
	 "published as MethodDCEndVerbose_V1, id 142; 144 is published as MethodUnLoadVerbose_V1" LEVEL_4 FLAGS},
	{RUNDOWN, 145, "published as DCStartComplete_V1; 145 is also published as MethodJittingStarted (runtime)"},
	{RUNDOWN, 146, "published as DCEndComplete_V1; 146 of the runtime is MethodJitMemoryAllocatedForCode"},
	{RUNDOWN, 147, "published as DCStartInit_V1"},
	{RUNDOWN, 148, "published as DCEndInit_V1"},
	{RUNDOWN, 151, "published as DomainModuleDCStart_V1; 151 is also published as DomainModuleLoad_V1 (runtime)"},
	{RUNDOWN, 152, "published as DomainModuleDCEnd_V1; 152 is also published as ModuleLoad_V2 (runtime)"},
	{RUNDOWN, 153, "published as ModuleDCStart_V2; 153 is also published as ModuleUnload_V2 (runtime)"},
	{RUNDOWN, 154, "published as ModuleDCEnd_V2; 154 is also published as AssemblyLoad_V1 (runtime)"},
	{RUNDOWN, 155, "published as AssemblyDCStart_V1; 155 is also published as AssemblyUnload_V1 (runtime)"},
	{RUNDOWN, 156, "published as AssemblyDCEnd_V1; 156 is also published as AppDomainLoad_V1 (runtime)"},
	{RUNDOWN, 157, "published as AppDomainDCStart_V1; 157 is also published as AppDomainUnLoad_V1 (runtime)"},
	{RUNDOWN, 158, "published as AppDomainDCEnd_V1; 158 is also published as ModuleRange (runtime)"},
};

const char *rd_published_as(const struct rd_event_type *type)
{
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].id == type->id && strcmp(table[i].provider, type->provider) == 0)
			return table[i].text;
	return NULL;
}
