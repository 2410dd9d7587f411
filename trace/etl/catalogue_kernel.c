/*
 * The kernel's events, one table a group, and the classic events that merging
 * adds: docs/formats/etl.md, "Kernel records" and "Classic events".
 *
 * Only the rows with a decoder matter to a profile; the others give a name to
 * what is commonly found. Opcode 10 of the process group loads an image; the
 * image group has only its unload and the two rundowns.
 */
#include "trace/catalogue.h"
#include "trace/etl/kernel.h"

#define PROVIDER                              "Windows Kernel"
#define ROW(OPCODE, NAME, KIND, LIFE, DECODE) RD_ROW(PROVIDER, OPCODE, 0, NAME, KIND, LIFE, DECODE)
#define NAME(OPCODE, NAME)                    RD_ROW(PROVIDER, OPCODE, 0, NAME, OTHER, NONE, NULL)
#define TABLE(GROUP, ROWS)                                                                                             \
	{                                                                                                              \
		.identity = RD_IDENTITY_KERNEL, .provider = PROVIDER, .group = (GROUP), .rows = (ROWS),                \
		.n = RD_ROW_COUNT(ROWS)                                                                                \
	}

static const struct rd_event_type header_rows[] = {
	ROW(0, "EventTrace/Header", SESSION, NONE, rd_kernel_session),
	NAME(5, "EventTrace/Extension"),
	NAME(8, "EventTrace/RundownComplete"),
	NAME(32, "EventTrace/EndExtension"),
	NAME(64, "EventTrace/DbgIdRSDS"),
	ROW(66, "EventTrace/BuildLab", MACHINE, NONE, rd_kernel_build),
	NAME(67, "EventTrace/BinaryPath"),
};

static const struct rd_event_type disk_rows[] = {
	NAME(10, "DiskIO/Read"),      NAME(11, "DiskIO/Write"),        NAME(12, "DiskIO/ReadInit"),
	NAME(13, "DiskIO/WriteInit"), NAME(14, "DiskIO/FlushBuffers"), NAME(15, "DiskIO/FlushInit"),
};

static const struct rd_event_type memory_rows[] = {
	NAME(10, "Memory/TransitionFault"),    NAME(11, "Memory/DemandZeroFault"),
	NAME(12, "Memory/CopyOnWrite"),        NAME(13, "Memory/GuardPage"),
	NAME(14, "Memory/HardPageFault"),      NAME(15, "Memory/AccessViolation"),
	NAME(32, "Memory/HardFault"),          NAME(98, "Memory/VirtualAlloc"),
	NAME(99, "Memory/VirtualFree"),        NAME(128, "Memory/VirtualAllocDCStart"),
	NAME(129, "Memory/VirtualAllocDCEnd"),
};

static const struct rd_event_type process_rows[] = {
	ROW(1, "Process/Start", PROCESS, LOAD, rd_kernel_process),
	ROW(2, "Process/End", PROCESS, UNLOAD, rd_kernel_process),
	ROW(3, "Process/DCStart", PROCESS, DCSTART, rd_kernel_process),
	ROW(4, "Process/DCEnd", PROCESS, DCEND, rd_kernel_process),
	ROW(10, "Image/Load", IMAGE, LOAD, rd_kernel_image),
	NAME(11, "Process/Terminate"),
	NAME(32, "Process/PerfCtr"),
	NAME(33, "Process/PerfCtrRundown"),
	NAME(39, "Process/Defunct"),
};

static const struct rd_event_type file_rows[] = {
	NAME(0, "FileIO/Name"),         NAME(32, "FileIO/FileCreate"),   NAME(35, "FileIO/FileDelete"),
	NAME(36, "FileIO/FileRundown"), NAME(64, "FileIO/Create"),       NAME(65, "FileIO/Cleanup"),
	NAME(66, "FileIO/Close"),       NAME(67, "FileIO/Read"),         NAME(68, "FileIO/Write"),
	NAME(69, "FileIO/SetInfo"),     NAME(70, "FileIO/Delete"),       NAME(71, "FileIO/Rename"),
	NAME(72, "FileIO/DirEnum"),     NAME(73, "FileIO/Flush"),        NAME(74, "FileIO/QueryInfo"),
	NAME(75, "FileIO/FSControl"),   NAME(76, "FileIO/OperationEnd"), NAME(77, "FileIO/DirNotify"),
};

static const struct rd_event_type thread_rows[] = {
	ROW(1, "Thread/Start", THREAD, LOAD, rd_kernel_thread),
	ROW(2, "Thread/End", THREAD, UNLOAD, rd_kernel_thread),
	ROW(3, "Thread/DCStart", THREAD, DCSTART, rd_kernel_thread),
	ROW(4, "Thread/DCEnd", THREAD, DCEND, rd_kernel_thread),
	ROW(36, "Thread/CSwitch", OTHER_COUNT, NONE, rd_kernel_cswitch),
	NAME(37, "Thread/CSwitchBatch"),
	NAME(50, "Thread/ReadyThread"),
	NAME(72, "Thread/SetName"),
};

static const struct rd_event_type tcpip_rows[] = {
	NAME(10, "TcpIp/Send"),        NAME(11, "TcpIp/Recv"),           NAME(12, "TcpIp/Connect"),
	NAME(13, "TcpIp/Disconnect"),  NAME(26, "TcpIp/SendIPV6"),       NAME(27, "TcpIp/RecvIPV6"),
	NAME(28, "TcpIp/ConnectIPV6"), NAME(29, "TcpIp/DisconnectIPV6"),
};

static const struct rd_event_type udpip_rows[] = {
	NAME(10, "UdpIp/Send"),
	NAME(11, "UdpIp/Recv"),
	NAME(26, "UdpIp/SendIPV6"),
	NAME(27, "UdpIp/RecvIPV6"),
};

static const struct rd_event_type config_rows[] = {
	ROW(10, "SystemConfig/CPU", MACHINE, NONE, rd_kernel_cpu),
	NAME(11, "SystemConfig/PhyDisk"),
	NAME(12, "SystemConfig/LogDisk"),
	NAME(13, "SystemConfig/NIC"),
	NAME(14, "SystemConfig/Video"),
	NAME(15, "SystemConfig/Services"),
	NAME(16, "SystemConfig/Power"),
	NAME(21, "SystemConfig/IRQ"),
	NAME(22, "SystemConfig/PnP"),
	NAME(23, "SystemConfig/IDEChannel"),
	NAME(25, "SystemConfig/Platform"),
};

/* The batch of samples (55) has one time for all; none was ever seen to say whose they are, so it is only named. */
static const struct rd_event_type perfinfo_rows[] = {
	ROW(46, "PerfInfo/SampledProfile", SAMPLE, NONE, rd_kernel_sample),
	ROW(47, "PerfInfo/PMCSample", OTHER_COUNT, NONE, rd_kernel_pmc),
	NAME(48, "PerfInfo/PMCConfig"),
	NAME(51, "PerfInfo/SysCallEnter"),
	NAME(52, "PerfInfo/SysCallExit"),
	NAME(55, "PerfInfo/SampledProfileBatch"),
	NAME(66, "PerfInfo/ThreadedDPC"),
	NAME(67, "PerfInfo/ISR"),
	NAME(68, "PerfInfo/DPC"),
	NAME(69, "PerfInfo/TimerDPC"),
	ROW(72, "PerfInfo/SetInterval", INTERVAL, NONE, rd_kernel_interval),
	ROW(73, "PerfInfo/CollectionStart", INTERVAL, NONE, rd_kernel_interval),
	ROW(74, "PerfInfo/CollectionEnd", INTERVAL, NONE, rd_kernel_interval),
};

static const struct rd_event_type image_rows[] = {
	ROW(2, "Image/Unload", IMAGE, UNLOAD, rd_kernel_image),
	ROW(3, "Image/DCStart", IMAGE, DCSTART, rd_kernel_image),
	ROW(4, "Image/DCEnd", IMAGE, DCEND, rd_kernel_image),
	NAME(33, "Image/KernelBase"),
	NAME(34, "Image/HypercallPage"),
};

static const struct rd_event_type stack_rows[] = {
	ROW(32, "StackWalk/Stack", STACK, NONE, rd_kernel_stack),
	ROW(34, "StackWalk/KeyCreate", STACK_KEY, NONE, rd_kernel_stack_definition),
	ROW(35, "StackWalk/KeyDelete", STACK_KEY, NONE, rd_kernel_stack_definition),
	ROW(36, "StackWalk/KeyRundown", STACK_KEY, NONE, rd_kernel_stack_definition),
	ROW(37, "StackWalk/StackKeyKernel", STACK, NONE, rd_kernel_stack_kernel_key),
	ROW(38, "StackWalk/StackKeyUser", STACK, NONE, rd_kernel_stack_user_key),
};

static const struct rd_event_table groups[] = {
	TABLE(0x00, header_rows), TABLE(0x01, disk_rows),   TABLE(0x02, memory_rows),   TABLE(0x03, process_rows),
	TABLE(0x04, file_rows),   TABLE(0x05, thread_rows), TABLE(0x06, tcpip_rows),    TABLE(0x08, udpip_rows),
	TABLE(0x0b, config_rows), TABLE(0x14, image_rows),  TABLE(0x0f, perfinfo_rows), TABLE(0x18, stack_rows),
};

#define IMAGE_ID "Windows Kernel Image Id"

#define ID(OPCODE, NAME) RD_ROW(IMAGE_ID, OPCODE, 0, NAME, OTHER, NONE, NULL)

static const struct rd_event_type image_id_rows[] = {
	ID(0, "ImageId/Info"),         ID(32, "ImageId/None"),      ID(36, "ImageId/DbgIdRSDS"),
	ID(37, "ImageId/DbgIdILRSDS"), ID(38, "ImageId/DbgIdPPDB"), ID(40, "ImageId/DbgIdDeterm"),
	ID(64, "ImageId/FileVersion"),
};

static const struct rd_event_table image_id = {
	.identity = RD_IDENTITY_CLASSIC,
	.provider = IMAGE_ID,
	.guid = RD_GUID(0xb3e675d7, 0x2554, 0x4f18, 0x83, 0x0b, 0x27, 0x62, 0x73, 0x25, 0x60, 0xde),
	.rows = image_id_rows,
	.n = RD_ROW_COUNT(image_id_rows),
};

#define METADATA "Windows Event Metadata"

static const struct rd_event_type metadata_rows[] = {
	RD_ROW(METADATA, 32, 0, "EventMetadata/EventInfo", SCHEMA, NONE, rd_etl_event_info),
	RD_ROW(METADATA, 33, 0, "EventMetadata/EventMapInfo", OTHER, NONE, NULL),
};

static const struct rd_event_table metadata = {
	.identity = RD_IDENTITY_CLASSIC,
	.provider = METADATA,
	.guid = RD_GUID(0xbbccf6c1, 0x6cd1, 0x48c4, 0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71),
	.rows = metadata_rows,
	.n = RD_ROW_COUNT(metadata_rows),
};

const struct rd_event_table *const rd_tables_kernel[] = {
	&groups[0], &groups[1], &groups[2], &groups[3],  &groups[4],  &groups[5], &groups[6],
	&groups[7], &groups[8], &groups[9], &groups[10], &groups[11], &image_id, &metadata, NULL,
};
