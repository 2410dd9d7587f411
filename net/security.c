#include "net/security.h"

#include <string.h>
#include <strings.h>

#include <zmq.h>

#include "base/log.h"
#include "net/inside.h"
#include "net/zap.h"

/* A draft of zmq.h that libzmq honours all the same. */
#ifndef ZMQ_ZAP_ENFORCE_DOMAIN
#define ZMQ_ZAP_ENFORCE_DOMAIN 93
#endif

/* A relative path is another socket in each folder, and an abstract name is open to every user. */
#define IPC "ipc://"

bool rd_endpoint_is_tcp(const char *endpoint)
{
	return strncasecmp(endpoint, "tcp:", 4) == 0;
}

int rd_security_check(const struct rd_security *s, const char *endpoint, struct rd_error *err)
{
	if (s->keys && s->plain_tcp)
		return rd_fail(err, RD_USAGE, "--keys DIR (or RUNDOWN_KEYS) and --plain-tcp: which?");
	if (s->server_key && s->keys == NULL)
		return rd_fail(err, RD_USAGE, "--server-key goes with --keys DIR");
	if (rd_endpoint_is_tcp(endpoint) && s->keys == NULL && !s->plain_tcp)
		return rd_fail(err, RD_USAGE,
			       "tcp needs --keys DIR; or --plain-tcp says that whoever can connect may do all");
	if (strncmp(endpoint, IPC, strlen(IPC)) == 0 && endpoint[strlen(IPC)] != '/')
		return rd_fail(err, RD_USAGE, "%s: ipc wants a whole path, ipc:///FOLDER/NAME", endpoint);
	return 0;
}

int rd_curve_set(void *handle, const struct rd_keys *keys, bool serves, struct rd_error *err)
{
	static const char domain[] = RD_ZAP_DOMAIN;
	int yes = 1;
	int rc;

	if (serves)
		/* Without the last one libzmq lets everybody in when nobody answers for the domain. */
		rc = zmq_setsockopt(handle, ZMQ_CURVE_SERVER, &yes, sizeof yes) ||
		     zmq_setsockopt(handle, ZMQ_CURVE_SECRETKEY, keys->secret, sizeof keys->secret) ||
		     zmq_setsockopt(handle, ZMQ_ZAP_DOMAIN, domain, sizeof domain - 1) ||
		     zmq_setsockopt(handle, ZMQ_ZAP_ENFORCE_DOMAIN, &yes, sizeof yes);
	else
		rc = zmq_setsockopt(handle, ZMQ_CURVE_SERVERKEY, keys->server, sizeof keys->server) ||
		     zmq_setsockopt(handle, ZMQ_CURVE_PUBLICKEY, keys->public, sizeof keys->public) ||
		     zmq_setsockopt(handle, ZMQ_CURVE_SECRETKEY, keys->secret, sizeof keys->secret);
	return rc ? rd_fail_zmq(err, "a socket's keys") : 0;
}

int rd_net_secure(struct rd_net *n, const struct rd_security *s, Rd__Role role, const char *endpoint,
		  struct rd_error *err)
{
	int rc = rd_security_check(s, endpoint, err);

	if (rc < 0 || !rd_endpoint_is_tcp(endpoint))
		return rc;
	if (s->plain_tcp) {
		rd_log(RD_LOG_WARN, "plain_tcp",
		       "endpoint=%s warning=\"no keys and no encryption: whoever can connect may do all\"", endpoint);
		n->tcp = true;
		return 0;
	}
	if (!zmq_has("curve"))
		return rd_fail(err, RD_UNSUPPORTED, "this libzmq has no CURVE");
	rc = rd_keys_load(&n->keys, role, s->keys, s->server_key, err);
	if (rc == 0 && role == RD__ROLE__ROLE_NONE)
		rc = rd_zap_open(n, s->keys, &n->zap, err);
	n->tcp = rc == 0;
	return rc;
}
