/* Time, chance and the network. */
#include "tests/simulation/world.h"

#include <string.h>

/* A job that takes longer hangs. */
#define TIME_MOST (6 * 3600 * SECOND)

struct world world;

bool chance(unsigned percent)
{
	return roll(100) < percent;
}

struct event *later(uint64_t ns, void (*happen)(struct event *e), int node)
{
	struct event *e = rd_vec_add(&world.events);

	assert_non_null(e);
	*e = (struct event){.at_ns = world.now_ns + ns, .order = ++world.orders, .happen = happen, .node = node};
	if (node >= 0)
		e->life = world.nodes[node].life;
	return e;
}

static size_t first_event(void)
{
	size_t first = 0;

	for (size_t i = 1; i < world.events.n; i++) {
		const struct event *a = &world.events.at[i], *b = &world.events.at[first];
		if (a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order))
			first = i;
	}
	return first;
}

static void next_event(void)
{
	size_t i = first_event();
	struct event e = world.events.at[i];

	world.events.at[i] = world.events.at[--world.events.n];
	world.now_ns = e.at_ns;
	world.broker.now_ns = world.now_ns + world.broker_offset_ns;
	world.events_n++;
	/* Of a process that is gone nobody is left to whom it could happen. */
	if (e.node < 0 || (world.nodes[e.node].alive && e.life == world.nodes[e.node].life))
		e.happen(&e);
	rd_message_release(&e.message);
}

void run_world(void)
{
	while (!world.over) {
		assert_true(world.events.n > 0);
		if (world.now_ns > TIME_MOST)
			fail_msg("after %llu hours the job is %s", (unsigned long long)(world.now_ns / SECOND / 3600),
				 world.state);
		next_event();
	}
}

/* ---- the broker's side */

static bool is_unreachable(rd_peer to)
{
	if (to == CLIENT)
		return false;
	for (int i = 0; i < NODES; i++)
		if (world.nodes[i].alive && world.nodes[i].link.peer == to)
			return false;
	return true;
}

static int node_of(rd_peer peer)
{
	for (int i = 0; i < NODES; i++)
		if (world.nodes[i].link.peer == peer && peer)
			return i;
	return -1;
}

/* The client stands beside the broker: what it is told it knows. */
static void tell_client(const Rd__Envelope *e)
{
	if (e->kind != RD__KIND__JOB_STATUS)
		return;
	rd_field_text(&e->status->state, world.state, sizeof world.state);
	world.quarantined = e->status->shards_quarantined;
	if (e->status->error)
		rd_field_text(&e->status->error->text, world.error, sizeof world.error);
	assert_true(e->status->shards_done + e->status->shards_quarantined <= e->status->shards_total);
	world.over = strcmp(world.state, "done") == 0 || strcmp(world.state, "failed") == 0;
}

static void arrive_at_peer(struct event *e)
{
	/* A connection that broke meanwhile carries nothing any more. */
	if (world.nodes[e->node].link.peer != e->peer)
		return;
	hear(e->node, &e->message);
	pump_node(e->node);
}

/* When a message that leaves now arrives: after those before it, and not while the way is cut. */
static uint64_t arrival(struct link *l, int end)
{
	uint64_t at = world.now_ns + 50000 + roll(chance(5) ? 2 * SECOND : 3 * MILLI);

	if (at < l->held_ns)
		at = l->held_ns;
	if (at <= l->to_ns[end])
		at = l->to_ns[end] + 1;
	return l->to_ns[end] = at;
}

/* No attempt's number is ever used twice, whichever broker gives it. */
static void note_task(const Rd__Envelope *e)
{
	if (e->kind != RD__KIND__TASK)
		return;
	assert_true(e->task < 16 && e->attempt < 256);
	assert_false(world.handed[e->task][e->attempt]);
	world.handed[e->task][e->attempt] = true;
}

void post_letters(void)
{
	while (world.broker.letters.n > 0) {
		struct rd_message m;
		rd_peer to = world.broker.letters.at[0].to;
		assert_true(next_letter(&world.broker, to, &m));
		int node = node_of(to);
		note_task(m.envelope);
		if (to == CLIENT)
			tell_client(m.envelope);
		if (node < 0) {
			rd_message_release(&m);
			continue;
		}
		struct event *e = later(arrival(&world.nodes[node].link, 1) - world.now_ns, arrive_at_peer, node);
		e->peer = to;
		e->message = m;
	}
}

static void broker_comes_back(struct event *e);

/* After anything that the broker did. */
static void after_broker(void)
{
	post_letters();
	if (!world.broker.crashed)
		return;
	world.broker_restarts++;
	for (int i = 0; i < NODES; i++)
		break_link(i);
	later(roll(5 * SECOND), broker_comes_back, -1);
}

static void tick(struct event *e)
{
	(void)e;
	if (!world.broker.crashed) {
		stage_pass(&world.broker, 0);
		after_broker();
	}
	later(200 * MILLI, tick, -1);
}

static void broker_comes_back(struct event *e)
{
	Rd__Envelope status = rd_envelope(RD__KIND__STATUS);

	(void)e;
	world.broker.crash_at = 0;
	stage_restart(&world.broker);
	world.broker_offset_ns = roll(1000 * SECOND);
	world.broker.now_ns = world.now_ns + world.broker_offset_ns;
	hello(&world.broker, CLIENT, RD__ROLE__CLIENT, 0);
	status.job = rd_field(world.broker.job);
	status.watch = true;
	say(&world.broker, CLIENT, &status, NULL);
	after_broker();
	for (int i = 0; i < NODES; i++)
		if (world.nodes[i].alive)
			connect_node(i, roll(SECOND));
}

static void arrive_at_broker(struct event *e)
{
	rd_peer from = e->peer;

	if (world.broker.crashed || node_of(from) < 0)
		return;
	e->message.from = from;
	say(&world.broker, from, e->message.envelope, &e->message.blob);
	after_broker();
}

/* ---- a peer's side */

int post_to_broker(int node, const Rd__Envelope *e, struct rd_blob *blob)
{
	struct link *l = &world.nodes[node].link;
	struct rd_message m = {0};
	struct rd_error err;

	if (l->peer == 0)
		return 0;
	assert_ok(rd_envelope_copy(e, &m.envelope, &err), &err);
	if (blob) {
		m.blob = *blob;
		*blob = (struct rd_blob){0};
	}
	/* It is on its way whether or not its sender lives on. */
	struct event *arrives = later(arrival(l, 0) - world.now_ns, arrive_at_broker, -1);
	arrives->peer = l->peer;
	arrives->message = m;
	return 1;
}

static void probe(struct event *e)
{
	(void)e;
	if (world.broker.crashed)
		return;
	rd_broker_probe(world.broker.broker, world.broker.now_ns);
	stage_pass(&world.broker, 0);
	after_broker();
}

void break_link(int node)
{
	struct node *n = &world.nodes[node];

	if (n->link.peer == 0)
		return;
	n->link = (struct link){0};
	if (node == MERGER_NODE)
		clear_inbox();
	if (n->alive && node >= FIRST_WORKER)
		rd_worker_down(&world.workers[node - FIRST_WORKER].machine);
	/* The broker's socket sees it some time. */
	later(roll(3 * SECOND), probe, -1);
}

static void comes_up(struct event *e)
{
	struct node *n = &world.nodes[e->node];

	if (n->link.peer || world.broker.crashed)
		return;
	n->link = (struct link){.peer = ++world.peers};
	if (e->node == MERGER_NODE)
		rd_merger_up(&world.merger.machine);
	else
		rd_worker_up(&world.workers[e->node - FIRST_WORKER].machine);
	pump_node(e->node);
}

void connect_node(int node, uint64_t after_ns)
{
	later(after_ns, comes_up, node);
}

/* ---- nodes */

static void wake(struct event *e)
{
	world.nodes[e->node].wake_ns = UINT64_MAX;
	pump_node(e->node);
}

void wake_at(int node, uint64_t ns)
{
	struct node *n = &world.nodes[node];

	if (ns == UINT64_MAX || ns >= n->wake_ns)
		return;
	n->wake_ns = ns;
	later(ns > world.now_ns ? ns - world.now_ns : 1, wake, node);
}

void start_node(int node)
{
	struct node *n = &world.nodes[node];

	n->alive = true;
	n->life++;
	n->wake_ns = UINT64_MAX;
	for (size_t i = 0; i < sizeof n->uuid; i++)
		n->uuid[i] = (uint8_t)roll(256);
	if (node == MERGER_NODE)
		start_merger(node);
	else
		start_worker(node);
	connect_node(node, roll(SECOND));
}

static void starts_again(struct event *e)
{
	int node = (int)e->child;

	if (!world.nodes[node].alive)
		start_node(node);
}

void kill_node(int node)
{
	struct node *n = &world.nodes[node];

	if (!n->alive)
		return;
	world.kills++;
	break_link(node);
	n->alive = false;
	if (node == MERGER_NODE)
		stop_merger(node);
	else
		stop_worker(node);
	later(roll(chance(20) ? 60 * SECOND : 2 * SECOND), starts_again, -1)->child = (uint64_t)node;
}

void pump_node(int node)
{
	if (node == MERGER_NODE)
		pump_merger(node);
	else
		pump_worker(node);
}

/* ---- faults */

static void fault(struct event *e)
{
	int node = (int)roll(NODES);
	struct node *n = &world.nodes[node];

	(void)e;
	if (!world.storm)
		return;
	switch (roll(8)) {
	case 0:
	case 1:
		kill_node(node);
		break;
	case 2:
		world.breaks++;
		break_link(node);
		if (n->alive)
			connect_node(node, roll(10 * SECOND));
		break;
	case 3:
		world.holds++;
		n->link.held_ns = world.now_ns + roll(chance(30) ? 200 * SECOND : 5 * SECOND);
		break;
	case 4:
		world.merger.full = 1 + (int)roll(4);
		break;
	case 5:
		world.broker.disk_full = 1 + (int)roll(3);
		break;
	case 6:
		world.broker.crash = chance(50) ? STAGE_BEFORE_COMMIT : STAGE_AFTER_COMMIT;
		world.broker.crash_at = world.broker.commits + 1 + roll(4);
		break;
	default:
		break;
	}
	later(roll(SECOND), fault, -1);
}

static void calm(struct event *e)
{
	(void)e;
	world.storm = false;
	world.broker.crash_at = 0;
}

/* ---- all of it */

void open_world(const struct recording *r, uint64_t seed)
{
	struct rd_broker_options opt = {.epoch = {1}, .attempts = 6};
	Rd__Submit base = plain_submit();

	memset(&world, 0, sizeof world);
	random_begin(seed);
	world.recording = r;
	world.now_ns = 1000 * SECOND;
	world.peers = 1000;
	stage_open_kept(&world.broker, &opt);
	world.broker.now_ns = world.now_ns;
	world.broker.gone = is_unreachable;
	world.shards = 1 + (uint32_t)roll(8);
	world.crash_percent = roll(2) ? roll(15) : 0;
	world.poison = roll(8) == 0 ? roll(world.shards) : UINT64_MAX;
	base.shards = world.shards;
	hello(&world.broker, CLIENT, RD__ROLE__CLIENT, 0);
	submit(&world.broker, &base, 1, (const char *[]){"/traces/shop.nettrace"});
	for (int i = 0; i < NODES; i++)
		start_node(i);
	post_letters();
	world.storm = true;
	later(0, tick, -1);
	later(roll(SECOND), fault, -1);
	later(roll(60 * SECOND), calm, -1);
}

void close_world(void)
{
	for (int i = 0; i < NODES; i++) {
		if (!world.nodes[i].alive)
			continue;
		if (i == MERGER_NODE)
			stop_merger(i);
		else
			stop_worker(i);
	}
	for (size_t i = 0; i < world.events.n; i++)
		rd_message_release(&world.events.at[i].message);
	rd_vec_release(&world.events);
	for (size_t i = 0; i < world.merger.blocks.n; i++)
		rd_bytes_release(&world.merger.blocks.at[i].bytes);
	rd_vec_release(&world.merger.blocks);
	rd_vec_release(&world.merger.inbox);
	rd_vec_release(&world.merger.ledger);
	rd_vec_release(&world.merger.jobs);
	stage_close(&world.broker);
}
