/*
 * The fields of events as the project knows them, for people: docs/formats/clr.md and docs/formats/etl.md have the
 * same lists with their traps. P is a pointer of the event's size. Of rows with one name the greatest version that is
 * not above the event's counts, as in the catalogue.
 */
#include <string.h>

#include "trace/description.h"

#define RUNTIME "Microsoft-Windows-DotNETRuntime"
#define RUNDOWN "Microsoft-Windows-DotNETRuntimeRundown"
#define PRIVATE "Microsoft-Windows-DotNETRuntimePrivate"
#define KERNEL  "Windows Kernel"
#define IMAGES  "Windows Kernel Image Id"

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

#define HEAPS                                                                                                          \
	"GenerationSize0 u64, TotalPromotedSize0 u64, GenerationSize1 u64, TotalPromotedSize1 u64, "                   \
	"GenerationSize2 u64, TotalPromotedSize2 u64, GenerationSize3 u64, TotalPromotedSize3 u64, "                   \
	"FinalizationPromotedSize u64, FinalizationPromotedCount u64, PinnedObjectCount u32, SinkBlockCount u32, "     \
	"GCHandleCount u32"
#define TICK                                                                                                           \
	"AllocationAmount u32, AllocationKind u32" CLR ", AllocationAmount64 u64, TypeID P, TypeName string, "         \
	"HeapIndex u32"
#define HISTORY                                                                                                        \
	"FinalYoungestDesired u64, NumHeaps i32, CondemnedGeneration u32, Gen0ReductionCount u32, Reason u32, "        \
	"GlobalMechanisms u32" CLR
#define BINDING                                                                                                        \
	"ClrInstanceID u16, AssemblyName string, AssemblyPath string, RequestingAssembly string, "                     \
	"AssemblyLoadContext string, RequestingAssemblyLoadContext string"
#define IPV6 "daddr u8[16], saddr u8[16], dport u16, sport u16"

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
	{RUNTIME, " GCStart ", 0, "Count u32, Reason u32"},
	{RUNTIME, " GCStart ", 1, "Count u32, Depth u32, Reason u32, Type u32" CLR},
	{RUNTIME, " GCStart ", 2, "Count u32, Depth u32, Reason u32, Type u32" CLR ", ClientSequenceNumber u64"},
	{RUNTIME, " GCEnd ", 0, "Count u32, Depth u16"},
	{RUNTIME, " GCEnd ", 1, "Count u32, Depth u32" CLR},
	{RUNTIME, " GCHeapStats ", 0, HEAPS},
	{RUNTIME, " GCHeapStats ", 1, HEAPS CLR},
	{RUNTIME, " GCHeapStats ", 2, HEAPS CLR ", GenerationSize4 u64, TotalPromotedSize4 u64"},
	{RUNTIME, " GCCreateSegment ", 0, "Address u64, Size u64, Type u32"},
	{RUNTIME, " GCCreateSegment ", 1, "Address u64, Size u64, Type u32" CLR},
	{RUNTIME, " GCFreeSegment ", 0, "Address u64"},
	{RUNTIME, " GCFreeSegment ", 1, "Address u64" CLR},
	{RUNTIME, " GCRestartEEBegin GCRestartEEEnd GCSuspendEEEnd GCFinalizersBegin GCCreateConcurrentThread "
	 "GCTerminateConcurrentThread ", 0,
	 ""},
	{RUNTIME, " GCRestartEEBegin GCRestartEEEnd GCSuspendEEEnd GCFinalizersBegin GCCreateConcurrentThread "
	 "GCTerminateConcurrentThread ", 1,
	 "ClrInstanceID u16"},
	{RUNTIME, " GCSuspendEEBegin ", 0, "Reason u16"},
	{RUNTIME, " GCSuspendEEBegin ", 1, "Reason u32, Count u32" CLR},
	{RUNTIME, " GCFinalizersEnd ", 0, "Count u32"},
	{RUNTIME, " GCFinalizersEnd ", 1, "Count u32" CLR},
	{RUNTIME, " GCTriggered ", 0, "Reason u32" CLR},
	{RUNTIME, " GCAllocationTick ", 0, "AllocationAmount u32, AllocationKind u32"},
	{RUNTIME, " GCAllocationTick ", 1, "AllocationAmount u32, AllocationKind u32" CLR},
	{RUNTIME, " GCAllocationTick ", 2, TICK},
	{RUNTIME, " GCAllocationTick ", 3, TICK ", Address P"},
	{RUNTIME, " GCAllocationTick ", 4, TICK ", Address P, ObjectSize u64"},
	{RUNTIME, " GCMarkWithType ", 0, "HeapNum u32" CLR ", Type u32, Bytes u64"},
	{RUNTIME, " GCPerHeapHistory ", 3,
	 "ClrInstanceID u16, FreeListAllocated P, FreeListRejected P, EndOfSegAllocated P, CondemnedAllocated "
	 "P, PinnedAllocated P, PinnedAllocatedAdvance P, RunningFreeListEfficiency u32, CondemnReasons0 u32, "
	 "CondemnReasons1 u32, CompactMechanisms u32, ExpandMechanisms u32, HeapIndex u32, ExtraGen0Commit P, "
	 "Count u32, ..."},
	{RUNTIME, " GCGlobalHeapHistory ", 2, HISTORY ", PauseMode u32, MemoryPressure u32"},
	{RUNTIME, " GCGlobalHeapHistory ", 3,
	 HISTORY ", PauseMode u32, MemoryPressure u32, CondemnReasons0 u32, CondemnReasons1 u32"},
	{RUNTIME, " GCGlobalHeapHistory ", 4,
	 HISTORY ", PauseMode u32, MemoryPressure u32, CondemnReasons0 u32, CondemnReasons1 u32, Count u32, ..."},
	{RUNTIME, " GCDynamicEvent ", 0, "Name string, DataSize u32, Data u8[DataSize]" CLR},
	{RUNTIME, " BulkType ", 0, "Count u32" CLR ", ..."},
	{RUNTIME, " GCBulkRootEdge GCBulkRootConditionalWeakTableElementEdge GCBulkNode GCBulkEdge "
	 "GCBulkSurvivingObjectRanges GCBulkMovedObjectRanges ", 0,
	 "Index u32, Count u32" CLR ", ..."},
	{RUNTIME, " GCGenerationRange ", 0,
	 "Generation u8, RangeStart u64, RangeUsedLength u64, RangeReservedLength u64" CLR},
	{RUNTIME, " GCSampledObjectAllocationHigh GCSampledObjectAllocationLow ", 0,
	 "Address P, TypeID P, ObjectCountForTypeSample u32, TotalSizeForTypeSample u64" CLR},
	{RUNTIME, " ExceptionThrown ", 0, ""},
	{RUNTIME, " ExceptionThrown ", 1,
	 "ExceptionType string, ExceptionMessage string, ExceptionEIP P, ExceptionHRESULT u32, ExceptionFlags "
	 "u16" CLR},
	{RUNTIME, " ExceptionCatchStart ExceptionFinallyStart ExceptionFilterStart ", 0,
	 "EntryEIP u64, MethodID u64, MethodName string" CLR},
	{RUNTIME, " ExceptionCatchStop ExceptionFinallyStop ExceptionFilterStop ExceptionThrownStop ", 0, ""},
	{RUNTIME, " ContentionStart ", 0, ""},
	{RUNTIME, " ContentionStart ", 1, "ContentionFlags u8" CLR},
	{RUNTIME, " ContentionStart ", 2,
	 "ContentionFlags u8" CLR ", LockID P, AssociatedObjectID P, LockOwnerThreadID u64"},
	{RUNTIME, " ContentionStop ", 0, "ContentionFlags u8" CLR},
	{RUNTIME, " ContentionStop ", 1, "ContentionFlags u8" CLR ", DurationNs f64"},
	{RUNTIME, " ThreadCreated ", 0,
	 "ManagedThreadID u64, AppDomainID u64, Flags u32, ManagedThreadIndex u32, OSThreadID u32" CLR},
	{RUNTIME, " ThreadTerminated ", 0, "ManagedThreadID u64, AppDomainID u64" CLR},
	{RUNTIME, " ThreadCreating ThreadRunning ", 0, "ID P" CLR},
	{RUNTIME, " ThreadPoolWorkerThreadStart ThreadPoolWorkerThreadStop ThreadPoolWorkerThreadWait "
	 "ThreadPoolWorkerThreadRetirementStart ThreadPoolWorkerThreadRetirementStop ", 0,
	 "ActiveWorkerThreadCount u32, RetiredWorkerThreadCount u32" CLR},
	{RUNTIME, " ThreadPoolWorkerThreadAdjustmentSample ", 0, "Throughput f64" CLR},
	{RUNTIME, " ThreadPoolWorkerThreadAdjustmentAdjustment ", 0,
	 "AverageThroughput f64, NewWorkerThreadCount u32, Reason u32" CLR},
	{RUNTIME, " ThreadPoolWorkerThreadAdjustmentStats ", 0,
	 "Duration f64, Throughput f64, ThreadWave f64, ThroughputWave f64, ThroughputErrorEstimate f64, "
	 "AverageThroughputErrorEstimate f64, ThroughputRatio f64, Confidence f64, NewControlSetting f64, "
	 "NewThreadWaveMagnitude u16" CLR},
	{RUNTIME, " ThreadPoolWorkingThreadCount ", 0, "Count u32" CLR},
	{RUNTIME, " ThreadPoolEnqueue ThreadPoolDequeue ", 0, "WorkID P" CLR},
	{RUNTIME, " InitializeYieldProcessorNormalized ", 0,
	 "ClrInstanceID u16, NsPerYield f64, EstablishedNsPerYield f64"},
	{RUNTIME, " TieredCompilationPause ", 0, "ClrInstanceID u16"},
	{RUNTIME, " TieredCompilationSettings ", 0, "ClrInstanceID u16, Flags u32"},
	{RUNTIME, " TieredCompilationResume ", 0, "ClrInstanceID u16, NewMethodCount u32"},
	{RUNTIME, " TieredCompilationBackgroundJitStart ", 0, "ClrInstanceID u16, PendingMethodCount u32"},
	{RUNTIME, " TieredCompilationBackgroundJitStop ", 0,
	 "ClrInstanceID u16, PendingMethodCount u32, JittedMethodCount u32"},
	{RUNTIME, " AssemblyLoadStart ", 0, BINDING},
	{RUNTIME, " AssemblyLoadStop ", 0,
	 BINDING ", Success bool32, ResultAssemblyName string, ResultAssemblyPath string, Cached bool32"},
	{RUNTIME, " ResolutionAttempted ", 0,
	 "ClrInstanceID u16, AssemblyName string, Stage u16, AssemblyLoadContext string, Result u16, "
	 "ResultAssemblyName string, ResultAssemblyPath string, ErrorMessage string"},
	{RUNTIME, " KnownPathProbed ", 0, "ClrInstanceID u16, FilePath string, Source u16, Result i32"},
	{PRIVATE, " GCSettings ", 1, "SegmentSize u64, LargeObjectSegmentSize u64, ServerGC bool32" CLR},
	{PRIVATE, " GCGlobalHeapHistory ", 1, HISTORY},
	{PRIVATE, " PrvGCMarkStackRoots PrvGCMarkFinalizeQueueRoots PrvGCMarkHandles PrvGCMarkCards ", 0,
	 "HeapNum u32"},
	{PRIVATE, " PrvGCMarkStackRoots PrvGCMarkFinalizeQueueRoots PrvGCMarkHandles PrvGCMarkCards ", 1,
	 "HeapNum u32" CLR},
	{PRIVATE, " NgenBindEvent ", 0, "ClrInstanceID u16, BindingID u64, ReasonCode u32, AssemblyName string"},
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
	{KERNEL, " EventTrace/Extension EventTrace/EndExtension ", 2,
	 "GroupMask1 u32, GroupMask2 u32, GroupMask3 u32, GroupMask4 u32, GroupMask5 u32, GroupMask6 u32, "
	 "GroupMask7 u32, GroupMask8 u32, KernelEventVersion u32"},
	{KERNEL, " SystemConfig/Power ", 2, "S1 u8, S2 u8, S3 u8, S4 u8, S5 u8, Pad u8[3]"},
	{KERNEL, " SystemConfig/Services ", 3,
	 "ProcessId u32, ServiceState u32, SubProcessTag u32, ServiceName string, DisplayName string, "
	 "ProcessName string, ..."},
	{KERNEL, " Process/Terminate ", 2, "ProcessId u32"},
	{KERNEL, " Process/PerfCtr Process/PerfCtrRundown ", 2,
	 "ProcessId u32, PageFaultCount u32, HandleCount u32, Reserved u32, PeakVirtualSize P, "
	 "PeakWorkingSetSize P, PeakPagefileUsage P, QuotaPeakPagedPoolUsage P, QuotaPeakNonPagedPoolUsage P, "
	 "VirtualSize P, WorkingSetSize P, PagefileUsage P, QuotaPagedPoolUsage P, QuotaNonPagedPoolUsage P, "
	 "PrivatePageCount P"},
	{KERNEL, " Thread/SetName ", 2, "ProcessId u32, ThreadId u32, ThreadName string"},
	{KERNEL, " Image/KernelBase ", 2, "ImageBase P"},
	{KERNEL, " Image/HypercallPage ", 2, "HypercallPageVa P"},
	{KERNEL, " DiskIO/Read DiskIO/Write ", 3,
	 "DiskNumber u32, IrpFlags u32, TransferSize u32, Reserved u32, ByteOffset u64, FileObject P, Irp P, "
	 "HighResResponseTime u64, IssuingThreadId u32"},
	{KERNEL, " DiskIO/ReadInit DiskIO/WriteInit DiskIO/FlushInit ", 3, "Irp P, IssuingThreadId u32"},
	{KERNEL, " DiskIO/FlushBuffers ", 3,
	 "DiskNumber u32, IrpFlags u32, HighResResponseTime u64, Irp P, IssuingThreadId u32"},
	{KERNEL, " FileIO/FileCreate FileIO/FileDelete FileIO/FileRundown ", 2, "FileObject P, FileName string"},
	{KERNEL, " Memory/HardFault ", 2,
	 "InitialTime u64, ReadOffset u64, VirtualAddress P, FileObject P, ThreadId u32, ByteCount u32"},
	{KERNEL, " TcpIp/SendIPV6 ", 2, "PID u32, size u32, " IPV6 ", startime u32, endtime u32, seqnum u32, connid P"},
	{KERNEL, " TcpIp/RecvIPV6 ", 2, "PID u32, size u32, " IPV6 ", seqnum u32, connid P"},
	{KERNEL, " UdpIp/SendIPV6 UdpIp/RecvIPV6 ", 2, "PID u32, size u32, " IPV6 ", seqnum u32, connid P"},
	{KERNEL, " UdpIp/Send UdpIp/Recv ", 2,
	 "PID u32, size u32, daddr u8[4], saddr u8[4], dport u16, sport u16, seqnum u32, connid P"},
	{IMAGES, " ImageId/Info ", 2,
	 "ImageBase P, ImageSize P, ProcessId u32, TimeDateStamp u32, OriginalFileName string"},
	{IMAGES, " ImageId/None ImageId/DbgIdDeterm ", 1, "ImageBase P, ProcessId u32"},
	{IMAGES, " ImageId/FileVersion ", 0,
	 "ImageSize u32, TimeDateStamp u32, OrigFileName string, FileDescription string, FileVersion string, "
	 "BinFileVersion string, VerLanguage string, ProductName string, CompanyName string, ProductVersion "
	 "string, FileId string, ProgramId string"},
	{IMAGES, " ImageId/DbgIdRSDS ImageId/DbgIdILRSDS ", 0,
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
