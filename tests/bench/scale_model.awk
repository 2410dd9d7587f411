# scale_model.awk - workers, one broker, one merger as queues: how busy the workers are, by the costs of a task.
#
#   awk -v task=100 -v worker=3.3 -v broker=0.5 -v merger=0.4 -f tests/bench/scale_model.awk
#
# Milliseconds: the task; what a worker needs besides for each; broker's and merger's processor for each. A worker is
# handed its next task by the broker, one after the other, works, and gives its partial to the merger; with two partials
# unmerged it waits (docs/protocol.md, "Flow"). A line for each number of workers: tasks a second, efficiency.
function min_worker(    i, best)
{
	best = 1
	for (i = 2; i <= w; i++)
		if (ready[i] < ready[best])
			best = i
	return best
}
BEGIN {
	if (!task)
		task = 100
	printf "%8s %10s %10s\n", "workers", "tasks/s", "efficiency"
	n = split("1 8 32 64 128 256 512 1024 2048", counts, " ")
	for (k = 1; k <= n; k++) {
		w = counts[k]
		broker_free = merger_free = end = 0
		for (i = 1; i <= w; i++)
			ready[i] = merged[i, 0] = merged[i, 1] = tasks[i] = 0
		total = w * 20
		for (t = 0; t < total; t++) {
			i = min_worker()
			from = ready[i]
			if (merged[i, tasks[i] % 2] > from)
				from = merged[i, tasks[i] % 2]
			broker_free = (from > broker_free ? from : broker_free) + broker
			done = broker_free + worker + task
			ready[i] = done
			merger_free = (done > merger_free ? done : merger_free) + merger
			merged[i, tasks[i] % 2] = merger_free
			tasks[i]++
			end = done > end ? done : end
		}
		printf "%8d %10.0f %9.1f %%\n", w, total / end * 1000, 100 * total * task / w / end
	}
}
