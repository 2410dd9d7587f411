/*
 * measure - run a command, and say on a file what it took: a line "time WALL_MS CPU_MS", the processor's time being
 * that of all processes it started and waited for. With --memory also a line "memory NAME KIB" for each name of a
 * process below it: the most private memory (RssAnon) that one of that name was seen with. Looking takes time of its
 * own, so a run is for one or the other.
 */
#include <ctype.h>
#include <dirent.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] = "usage: measure [--memory] -o FILE COMMAND...\n";

#define LOOK_EVERY_US 3000
#define NAMES_MAX     64
#define PROCESSES_MAX 4096

struct process {
	long pid, parent;
	bool below;
};

struct peak {
	char name[32];
	long kib;
};

static struct peak peaks[NAMES_MAX];
static struct process processes[PROCESSES_MAX];

static double wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void note(const char *name, long kib)
{
	struct peak *p = peaks;

	while (p < peaks + NAMES_MAX - 1 && p->name[0] && strcmp(p->name, name) != 0)
		p++;
	snprintf(p->name, sizeof p->name, "%s", name);
	if (kib > p->kib)
		p->kib = kib;
}

/* A process that ends while it is read is none. */
static void look_at(long pid)
{
	char path[64], line[256], name[32] = "";
	long kib = -1;

	snprintf(path, sizeof path, "/proc/%ld/status", pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f)) {
		sscanf(line, "Name: %31[^\n]", name);
		sscanf(line, "RssAnon: %ld", &kib);
	}
	if (f)
		fclose(f);
	if (kib >= 0)
		note(name, kib);
}

static size_t list_processes(void)
{
	char path[64];
	size_t n = 0;
	DIR *proc = opendir("/proc");

	for (struct dirent *e; proc && n < PROCESSES_MAX && (e = readdir(proc)) != NULL;) {
		struct process p = {.pid = strtol(e->d_name, NULL, 10)};
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof path, "/proc/%ld/stat", p.pid);
		FILE *f = fopen(path, "r");
		if (f && fscanf(f, "%*d (%*[^)]) %*c %ld", &p.parent) == 1)
			processes[n++] = p;
		if (f)
			fclose(f);
	}
	if (proc)
		closedir(proc);
	return n;
}

/* All processes below the one. Pids do not ascend from parent to child for ever, so until nothing is new. */
static void look_below(long root)
{
	size_t n = list_processes();

	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			struct process *p = &processes[i];
			bool below = p->pid == root;
			for (size_t k = 0; !p->below && !below && k < n; k++)
				below = processes[k].below && processes[k].pid == p->parent;
			more |= below && !p->below;
			p->below |= below;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (processes[i].below)
			look_at(processes[i].pid);
}

static bool runs(pid_t child)
{
	siginfo_t info = {0};
	return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

static int run(char **command, bool memory, const char *out)
{
	int status;
	struct rusage usage;
	double begin = wall_ms();
	pid_t child = fork();

	if (child == 0) {
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	while (child > 0 && memory && runs(child)) {
		look_below(child);
		usleep(LOOK_EVERY_US);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
		perror("measure");
		return 1;
	}
	double took = wall_ms() - begin;
	FILE *f = fopen(out, "w");
	if (f == NULL) {
		perror(out);
		return 1;
	}
	fprintf(f, "time %.2f %.2f\n", took,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3);
	for (const struct peak *p = peaks; p < peaks + NAMES_MAX && p->name[0]; p++)
		fprintf(f, "memory %s %ld\n", p->name, p->kib);
	return fclose(f) != 0 || !WIFEXITED(status) ? 1 : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"memory", no_argument, NULL, 'm'}, {NULL, 0, NULL, 0}};
	const char *out = NULL;
	bool memory = false;
	int c;

	while ((c = getopt_long(argc, argv, "+o:", options, NULL)) != -1) {
		if (c == 'm')
			memory = true;
		else if (c == 'o')
			out = optarg;
		else
			out = NULL, optind = argc;
	}
	if (out == NULL || optind == argc) {
		fputs(help, stderr);
		return 2;
	}
	return run(argv + optind, memory, out);
}
