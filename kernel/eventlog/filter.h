/* SPDX-License-Identifier: GPL-2.0 */
/* What a consumer asks for, and which events it is allowed to receive. */
#ifndef EVENTLOG_FILTER_H
#define EVENTLOG_FILTER_H

#include <linux/capability.h>
#include <linux/pid_namespace.h>
#include <linux/types.h>
#include <linux/uidgid.h>
#include <uapi/linux/eventlog_device.h>

#include "subscription.h"

struct eventlog_filter {
	u32 rule_count;
	u32 session_count;
	u32 process_count;
	struct eventlog_filter_rule *rules;
	u64 *sessions;
	struct eventlog_process_filter *processes;
};

/* Credentials of a consumer. */
struct eventlog_consumer_cred {
	kuid_t uid;
	bool may_receive_all;
	kernel_cap_t capabilities;
	struct pid_namespace *pid_ns; /* reference held by the owner of the struct */
	struct user_namespace *user_ns; /* likewise */
};

enum eventlog_filter_result {
	EVENTLOG_UNWANTED,
	EVENTLOG_IN_SESSION, /* only in the sessions that the subscription names */
	EVENTLOG_WANTED,
};

int eventlog_filter_get(struct eventlog_filter *filter,
			const struct eventlog_subscription_request *wanted);
void eventlog_filter_free(struct eventlog_filter *filter);
void eventlog_consumer_cred_get(struct eventlog_consumer_cred *cred);
bool eventlog_may_receive(const struct eventlog_consumer_cred *cred,
			  const struct eventlog_source *source);
bool eventlog_filter_wants_process(const struct eventlog_filter *filter,
				   struct pid_namespace *pid_ns,
				   const struct eventlog_source *source);
enum eventlog_filter_result eventlog_filter_match(const struct eventlog_filter *filter,
						  const struct eventlog_source_event *event);

static inline bool eventlog_filter_wants_session(const struct eventlog_filter *filter, u64 session)
{
	u32 i;

	for (i = 0; i < filter->session_count; i++)
		if (filter->sessions[i] == session)
			return true;
	return false;
}

#endif /* EVENTLOG_FILTER_H */
