/*
 * The fields of events as the project knows them, for people: docs/formats/clr.md and docs/formats/etl.md have the
 * same lists with their traps. P is a pointer of the event's size. Of rows with one name the greatest version that is
 * not above the event's counts, as in the catalogue.
 */
#include <string.h>

#include "trace/description.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"
#define KERNEL  "Windows Kernel"

#define METHOD "MethodID u64, ModuleID u64, MethodStartAddress u64, MethodSize u32, MethodToken u32, MethodFlags u32"
#define NAMES  ", MethodNamespace string, MethodName string, MethodSignature string"
#define CLR    ", ClrInstanceID u16"
#define REJIT  ", ReJITID u64"
#define MODULE                                                                                                         \
	"ModuleID u64, AssemblyID u64, ModuleFlags u32, Reserved1 u32, ModuleILPath string, ModuleNativePath string"
#define PDBS                                                                                                           \
	", ManagedPdbSignature guid, ManagedPdbAge u32, ManagedPdbBuildPath string, NativePdbSignature guid, "         \
	"NativePdbAge u32, NativePdbBuildPath string"
#define DOMAIN                                                                                                         \
	"ModuleID u64, AssemblyID u64, AppDomainID u64, ModuleFlags u32, Reserved1 u32, ModuleILPath string, "         \
	"ModuleNativePath string"
#define ASSEMBLY                                                                                                       \
	"AssemblyID u64, AppDomainID u64, BindingID u64, AssemblyFlags u32, FullyQualifiedAssemblyName string" CLR
#define APP_DOMAIN "AppDomainID u64, AppDomainFlags u32, AppDomainName string, AppDomainIndex u32" CLR
#define LOG_HEADER                                                                                                     \
	"BufferSize u32, Version u32, ProviderVersion u32, NumberOfProcessors u32, EndTime u64, TimerResolution u32, " \
	"MaximumFileSize u32, LogFileMode u32, BuffersWritten u32, StartBuffers u32, PointerSize u32, "                \
	"EventsLost u32, CpuSpeedInMHz u32, LoggerName P, LogFileName P, TimeZone u8[172], BootTime u64, "             \
	"PerfFreq u64, StartTime u64, ReservedFlags u32, BuffersLost u32, SessionName string, FileName string"
#define MAP                                                                                                            \
	"MethodID u64, ReJITID u64, MethodExtent u8, CountOfMapEntries u16, ILOffsets i32[CountOfMapEntries], "        \
	"NativeOffsets i32[CountOfMapEntries], ClrInstanceID u16"
#define RUNTIME_INFORMATION                                                                                            \
	"ClrInstanceID u16, Sku u16, BclMajorVersion u16, BclMinorVersion u16, BclBuildNumber u16, BclQfeNumber u16, " \
	"VMMajorVersion u16, VMMinorVersion u16, VMBuildNumber u16, VMQfeNumber u16, StartupFlags u32, "               \
	"StartupMode u8, CommandLine string, ComObjectGuid guid, RuntimeDllPath string"
#define PROCESS_HEAD "ProcessId u32, ParentId u32, SessionId u32, ExitStatus i32"
#define SAMPLE       "InstructionPointer P, ThreadId u32, Count u16, Flags u8, Rank u8"
#define IMAGE                                                                                                          \
	"ImageBase P, ImageSize P, ProcessId u32, ImageCheckSum u32, TimeDateStamp u32, Reserved u32, DefaultBase P, " \
	"Reserved u32[4], FileName string"
#define INTERVAL "Source u32, NewInterval u32, OldInterval u32, SourceName string"

struct known {
	const char *provider;
	const char *names; /* of the rows it holds for, a blank on either side of each */
	uint32_t version_from;
	const char *fields;
};

static const struct known table[] = {
	{RUNTIME, " MethodLoad MethodUnload MethodDCStartV2 MethodDCEndV2 ", 0, METHOD},
	{RUNTIME, " MethodLoad MethodUnload MethodDCStartV2 MethodDCEndV2 ", 1, METHOD CLR},
	{RUNTIME, " MethodLoad MethodUnload MethodDCStartV2 MethodDCEndV2 ", 2, METHOD CLR REJIT},
	{RUNTIME, " MethodLoadVerbose MethodUnloadVerbose MethodDCStartVerboseV2 MethodDCEndVerboseV2 ", 0,
	 METHOD NAMES},
	{RUNTIME, " MethodLoadVerbose MethodUnloadVerbose MethodDCStartVerboseV2 MethodDCEndVerboseV2 ", 1,
	 METHOD NAMES CLR},
	{RUNTIME, " MethodLoadVerbose MethodUnloadVerbose MethodDCStartVerboseV2 MethodDCEndVerboseV2 ", 2,
	 METHOD NAMES CLR REJIT},
	{RUNTIME, " MethodJittingStarted ", 0, "MethodID u64, ModuleID u64, MethodToken u32, MethodILSize u32" NAMES},
	{RUNTIME, " MethodJittingStarted ", 1,
	 "MethodID u64, ModuleID u64, MethodToken u32, MethodILSize u32" NAMES CLR},
	{RUNTIME, " MethodILToNativeMap ", 0, MAP},
	{RUNTIME, " MethodILToNativeMap ", 1, MAP ", ILVersionID u64"},
	{RUNTIME, " ModuleLoad ModuleUnload ModuleDCStartV2 ModuleDCEndV2 ", 0, MODULE},
	{RUNTIME, " ModuleLoad ModuleUnload ModuleDCStartV2 ModuleDCEndV2 ", 1, MODULE CLR},
	{RUNTIME, " ModuleLoad ModuleUnload ModuleDCStartV2 ModuleDCEndV2 ", 2, MODULE CLR PDBS},
	{RUNTIME, " DomainModuleLoad ", 0, DOMAIN},
	{RUNTIME, " DomainModuleLoad ", 1, DOMAIN CLR},
	{RUNTIME, " AssemblyLoad AssemblyUnload ", 1, ASSEMBLY},
	{RUNTIME, " AppDomainLoad AppDomainUnload ", 1, APP_DOMAIN},
	{RUNTIME, " RuntimeInformationStart ", 0, RUNTIME_INFORMATION},
	{RUNTIME, " DCStartCompleteV2 DCEndCompleteV2 ", 0, ""},
	{RUNTIME, " DCStartCompleteV2 DCEndCompleteV2 ", 1, "ClrInstanceID u16"},
	{RUNDOWN, " MethodDCStart MethodDCEnd ", 0, METHOD},
	{RUNDOWN, " MethodDCStart MethodDCEnd ", 1, METHOD CLR},
	{RUNDOWN, " MethodDCStart MethodDCEnd ", 2, METHOD CLR REJIT},
	{RUNDOWN, " MethodDCStartVerbose MethodDCEndVerbose ", 0, METHOD NAMES},
	{RUNDOWN, " MethodDCStartVerbose MethodDCEndVerbose ", 1, METHOD NAMES CLR},
	{RUNDOWN, " MethodDCStartVerbose MethodDCEndVerbose ", 2, METHOD NAMES CLR REJIT},
	{RUNDOWN, " MethodDCStartILToNativeMap MethodDCEndILToNativeMap ", 0, MAP},
	{RUNDOWN, " MethodDCStartILToNativeMap MethodDCEndILToNativeMap ", 1, MAP ", ILVersionID u64"},
	{RUNDOWN, " ModuleDCStart ModuleDCEnd ", 0, MODULE},
	{RUNDOWN, " ModuleDCStart ModuleDCEnd ", 1, MODULE CLR},
	{RUNDOWN, " ModuleDCStart ModuleDCEnd ", 2, MODULE CLR PDBS},
	{RUNDOWN, " DomainModuleDCStart DomainModuleDCEnd ", 0, DOMAIN},
	{RUNDOWN, " DomainModuleDCStart DomainModuleDCEnd ", 1, DOMAIN CLR},
	{RUNDOWN, " AssemblyDCStart AssemblyDCEnd ", 1, ASSEMBLY},
	{RUNDOWN, " AppDomainDCStart AppDomainDCEnd ", 1, APP_DOMAIN},
	{RUNDOWN, " RuntimeInformationDCStart ", 0, RUNTIME_INFORMATION},
	{RUNDOWN, " DCStartInit DCStartComplete DCEndInit DCEndComplete ", 0, ""},
	{RUNDOWN, " DCStartInit DCStartComplete DCEndInit DCEndComplete ", 1, "ClrInstanceID u16"},
	{"Microsoft-DotNETCore-SampleProfiler", " ThreadSample ", 0, "Type u32"},
	{"Microsoft-DotNETCore-EventPipe", " ProcessInfo ", 0,
	 "CommandLine string, OSInformation string, ArchInformation string"},
	{KERNEL, " EventTrace/Header ", 0, LOG_HEADER},
	{KERNEL, " EventTrace/BuildLab ", 0, "BuildString string"},
	{KERNEL, " SystemConfig/CPU ", 0,
	 "MHz u32, NumberOfProcessors u32, MemSize u32, PageSize u32, AllocationGranularity u32, ComputerName "
	 "u16[256], "
	 "..."},
	{KERNEL, " PerfInfo/SampledProfile ", 0, SAMPLE},
	{KERNEL, " PerfInfo/PMCSample ", 0, "InstructionPointer P, ThreadId u32, ProfileSource u16, Reserved u16"},
	{KERNEL, " PerfInfo/SetInterval PerfInfo/CollectionStart PerfInfo/CollectionEnd ", 0, INTERVAL},
	{KERNEL, " StackWalk/Stack ", 0, "EventTimeStamp u64, ProcessId u32, ThreadId u32, Frames P[]"},
	{KERNEL, " StackWalk/StackKeyKernel StackWalk/StackKeyUser ", 0,
	 "EventTimeStamp u64, ProcessId u32, ThreadId u32, StackKey P"},
	{KERNEL, " StackWalk/KeyCreate StackWalk/KeyDelete StackWalk/KeyRundown ", 0, "StackKey P, Frames P[]"},
	{KERNEL, " Process/Start Process/End Process/DCStart Process/DCEnd ", 0,
	 "ProcessId P, ParentId P, UserSID sid, ImageFileName ansi"},
	{KERNEL, " Process/Start Process/End Process/DCStart Process/DCEnd ", 1,
	 "PageDirectoryBase P, " PROCESS_HEAD ", UserSID sid, ImageFileName ansi"},
	{KERNEL, " Process/Start Process/End Process/DCStart Process/DCEnd ", 2,
	 "UniqueProcessKey P, " PROCESS_HEAD ", UserSID sid, ImageFileName ansi, CommandLine string"},
	{KERNEL, " Process/Start Process/End Process/DCStart Process/DCEnd ", 3,
	 "UniqueProcessKey P, " PROCESS_HEAD
	 ", DirectoryTableBase P, UserSID sid, ImageFileName ansi, CommandLine string"},
	{KERNEL, " Process/Start Process/End Process/DCStart Process/DCEnd ", 4,
	 "UniqueProcessKey P, " PROCESS_HEAD ", DirectoryTableBase P, Flags u32, UserSID sid, ImageFileName ansi, "
	 "CommandLine string, PackageFullName string, ApplicationId string"},
	{KERNEL, " Thread/Start Thread/End Thread/DCStart Thread/DCEnd ", 0, "ThreadId u32, ProcessId u32"},
	{KERNEL, " Thread/Start Thread/End Thread/DCStart Thread/DCEnd ", 1, "ProcessId u32, ThreadId u32, ..."},
	{KERNEL, " Image/Load Image/Unload Image/DCStart Image/DCEnd ", 0,
	 "ImageBase P, ImageSize u32, FileName string"},
	{KERNEL, " Image/Load Image/Unload Image/DCStart Image/DCEnd ", 1,
	 "ImageBase P, ImageSize P, ProcessId u32, FileName string"},
	{KERNEL, " Image/Load Image/Unload Image/DCStart Image/DCEnd ", 2, IMAGE},
	{"Windows Kernel Image Id", " ImageId/DbgIdRSDS ImageId/DbgIdILRSDS ", 0,
	 "ImageBase P, ProcessId u32, PdbSignature guid, PdbAge u32, PdbFileName utf8"},
};

static bool holds(const char *names, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = names; (at = strstr(at, name)) != NULL; at += n)
		if (at[-1] == ' ' && at[n] == ' ')
			return true;
	return false;
}

const char *rd_known_fields(const struct rd_event_type *type, uint32_t version)
{
	const char *found = NULL;

	/* Versions of one name ascend. */
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (table[i].version_from <= version && strcmp(table[i].provider, type->provider) == 0 &&
		    holds(table[i].names, type->name))
			found = table[i].fields;
	return found;
}
