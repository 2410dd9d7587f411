/*
 * frame - what a frame is made of. Inside net/ only.
 */
#ifndef RD_NET_FRAME_H
#define RD_NET_FRAME_H

#include <zmq.h>

#include "net/message.h"

struct rd_frame {
	zmq_msg_t part;
};

struct rd_frame *rd_frame_empty(void); /* NULL when out of memory */
void rd_frame_free(struct rd_frame *f);
/* The blob owns f on success only. */
int rd_blob_add_frame(struct rd_blob *b, struct rd_frame *f, struct rd_error *err);

#endif
