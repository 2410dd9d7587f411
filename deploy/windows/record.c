/*
 * record - rundown-record.exe: one session with sampled stacks, .NET names, keyframes and an end rundown.
 *
 * Built here with mingw-w64 (`make windows`); README.md tells each step and which call it is. A system logger session
 * (Windows 8 and later) takes the kernel's events and those of providers into one file.
 */
#include <windows.h>

#include <evntcons.h>
#include <evntrace.h>
#include <stdio.h>
#include <string.h>
#include <wmistr.h>

#include "base/text.h"
#include "deploy/windows/plan.h"

#define SESSION "rundown-record"

/* evntprov.h: EVENT_CONTROL_CODE_*; evntrace.h: EVENT_TRACE_FLAG_*; "SampledProfile" is type 46 of PerfInfo's class. */
static const GUID perf_info = {0xce1dbfb4, 0x137e, 0x4da6, {0x87, 0xb0, 0x3f, 0x59, 0xaa, 0x10, 0x2c, 0xbc}};
#define SAMPLED_PROFILE 46

struct properties {
	EVENT_TRACE_PROPERTIES p;
	char session[64];
	char file[1024];
};

static HANDLE stop;

static BOOL WINAPI on_ctrl(DWORD kind)
{
	(void)kind;
	SetEvent(stop);
	return TRUE;
}

/* What failed, as a line; 0 for ERROR_SUCCESS. */
static int failed(const char *what, ULONG status)
{
	if (status == ERROR_SUCCESS)
		return 0;
	fprintf(stderr, "rundown-record: %s: error %lu%s\n", what, status,
		status == ERROR_ACCESS_DENIED ? ", it takes an administrator" : "");
	return 1;
}

/* The kernel samples only for who holds SeSystemProfilePrivilege. */
static int allow_profiling(void)
{
	TOKEN_PRIVILEGES want = {.PrivilegeCount = 1};
	HANDLE token;

	if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_PRIVILEGES, &token))
		return failed("OpenProcessToken", GetLastError());
	want.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
	if (LookupPrivilegeValueA(NULL, "SeSystemProfilePrivilege", &want.Privileges[0].Luid))
		AdjustTokenPrivileges(token, FALSE, &want, 0, NULL, NULL);
	DWORD status = GetLastError();
	CloseHandle(token);
	return failed("AdjustTokenPrivileges", status);
}

static int fill(struct properties *s, const struct plan *p)
{
	memset(s, 0, sizeof *s);
	if (strlen(p->file) >= sizeof s->file) {
		fprintf(stderr, "rundown-record: the name of the file is too long\n");
		return 1;
	}
	strcpy(s->file, p->file);
	s->p.Wnode.BufferSize = sizeof *s;
	s->p.Wnode.Flags = WNODE_FLAG_TRACED_GUID;
	s->p.Wnode.ClientContext = 1; /* QPC */
	s->p.BufferSize = p->buffer_kb;
	s->p.MinimumBuffers = p->buffers / 4;
	s->p.MaximumBuffers = p->buffers;
	s->p.LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_SYSTEM_LOGGER_MODE;
	s->p.EnableFlags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD |
			   EVENT_TRACE_FLAG_PROFILE;
	s->p.LoggerNameOffset = offsetof(struct properties, session);
	s->p.LogFileNameOffset = offsetof(struct properties, file);
	return 0;
}

static int start(const struct plan *p, TRACEHANDLE *session)
{
	TRACE_PROFILE_INTERVAL interval = {.Source = 0, .Interval = p->interval_us * 10};
	CLASSIC_EVENT_ID stacks = {.EventGuid = perf_info, .Type = SAMPLED_PROFILE};
	struct properties s;

	if (allow_profiling() || fill(&s, p))
		return 1;
	if (failed("StartTrace", StartTraceA(session, SESSION, &s.p)))
		return 1;
	return failed("the sampling interval",
		      TraceSetInformation(0, TraceSampledProfileIntervalInfo, &interval, sizeof interval)) ||
	       failed("stacks", TraceSetInformation(*session, TraceStackTracingInfo, &stacks, sizeof stacks));
}

static int enable(TRACEHANDLE session, int which, ULONG control)
{
	const struct plan_provider *provider = &plan_providers[which];
	ENABLE_TRACE_PARAMETERS parameters = {.Version = ENABLE_TRACE_PARAMETERS_VERSION_2};
	uint8_t bytes[16];
	GUID guid;

	if (rd_guid_parse(provider->guid, bytes) != 0)
		return failed(provider->name, ERROR_INVALID_DATA);
	memcpy(&guid, bytes, sizeof guid);
	return failed(provider->name,
		      EnableTraceEx2(session, &guid, control, provider->level, provider->keywords, 0, 0, &parameters));
}

/* Keyframes: ask for the limit, then set. An older Windows has neither, and goes on without. */
static void set_keyframes(TRACEHANDLE session, const struct plan *p)
{
	TRACE_PERIODIC_CAPTURE_STATE_INFO limits = {0};
	struct rd_bytes bytes = {0};
	struct rd_error err;
	uint32_t every_s;
	ULONG got = 0;

	if (p->every_s == 0 ||
	    failed("no keyframes: asking for the limits",
		   TraceQueryInformation(session, TracePeriodicCaptureStateInfo, &limits, sizeof limits, &got)))
		return;
	if (plan_capture(p, limits.CaptureStateFrequencyInSeconds, &bytes, &every_s, &err) < 0)
		fprintf(stderr, "rundown-record: no keyframes: %s\n", err.text);
	else if (!failed("no keyframes",
			 TraceSetInformation(session, TracePeriodicCaptureStateListInfo, bytes.at, (ULONG)bytes.n)))
		printf("a keyframe every %u s; Windows allows %lu s\n", (unsigned)every_s,
		       limits.CaptureStateFrequencyInSeconds);
	rd_bytes_release(&bytes);
}

static int end(TRACEHANDLE session, const struct plan *p, int bad)
{
	struct properties s;

	if (!bad && p->every_s)
		TraceSetInformation(session, TracePeriodicCaptureStateListInfo, NULL, 0);
	if (!bad && (bad = enable(session, PLAN_RUNDOWN_END, EVENT_CONTROL_CODE_ENABLE_PROVIDER)) == 0) {
		printf("end rundown, %u s\n", (unsigned)p->rundown_s);
		fflush(stdout);
		Sleep(p->rundown_s * 1000);
	}
	fill(&s, p);
	bad |= failed("stopping", ControlTraceA(session, NULL, &s.p, EVENT_TRACE_CONTROL_STOP));
	printf("%s: %lu buffers written, %lu lost, %lu events lost\n", p->file, s.p.BuffersWritten, s.p.LogBuffersLost,
	       s.p.EventsLost);
	return bad;
}

int main(int argc, char **argv)
{
	TRACEHANDLE session = 0;
	struct rd_error err;
	struct plan p;

	if (plan_read(&p, argc, argv, &err) < 0) {
		fprintf(stderr, "rundown-record: %s\n", err.text);
		return 2;
	}
	if (p.help) {
		fputs(plan_help, stdout);
		return 0;
	}
	stop = CreateEventA(NULL, TRUE, FALSE, NULL);
	SetConsoleCtrlHandler(on_ctrl, TRUE);
	int bad = start(&p, &session);
	if (session == 0)
		return 1;
	bad = bad || enable(session, PLAN_RUNTIME, EVENT_CONTROL_CODE_ENABLE_PROVIDER) ||
	      enable(session, PLAN_RUNDOWN_START, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
	if (!bad) {
		set_keyframes(session, &p);
		printf("recording into %s; Ctrl-C ends it\n", p.file);
		fflush(stdout);
		WaitForSingleObject(stop, p.seconds ? p.seconds * 1000 : INFINITE);
	}
	return end(session, &p, bad) ? 1 : 0;
}
