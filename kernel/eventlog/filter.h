/* SPDX-License-Identifier: GPL-2.0 */
/* What a subscription wants, and what it may have. */
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
	struct eventlog_rule *rules;
	u64 *sessions;
	struct eventlog_process *processes;
};

/* Who asks. */
struct eventlog_asker {
	kuid_t uid;
	bool may_hear_all;
	kernel_cap_t rights;
	struct pid_namespace *pids; /* not held by this */
	struct user_namespace *users; /* likewise */
};

enum eventlog_verdict {
	EVENTLOG_UNWANTED,
	EVENTLOG_IN_SESSION, /* in those sessions that the subscription names */
	EVENTLOG_WANTED,
};

int eventlog_filter_get(struct eventlog_filter *filter,
			const struct eventlog_subscription_request *wanted);
void eventlog_filter_free(struct eventlog_filter *filter);
void eventlog_asker_get(struct eventlog_asker *asker);
bool eventlog_may_hear(const struct eventlog_asker *asker, const struct eventlog_source *source);
bool eventlog_wants_process(const struct eventlog_filter *filter, struct pid_namespace *pids,
			    const struct eventlog_source *source);
enum eventlog_verdict eventlog_judge(const struct eventlog_filter *filter,
				     const struct eventlog_source_event *event);

static inline bool eventlog_wants_session(const struct eventlog_filter *filter, u64 session)
{
	u32 i;

	for (i = 0; i < filter->session_count; i++)
		if (filter->sessions[i] == session)
			return true;
	return false;
}

#endif /* EVENTLOG_FILTER_H */
