// SPDX-License-Identifier: GPL-2.0
/*
 * Matches events with the rules of a consumer, and checks its rights.
 *
 * The functions that match have no side effects; they run without locks.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>

#include "filter.h"

/*
 * Returns the bytes of the first character of UTF-8, 1 for a byte that is part
 * of none.
 */
static size_t character_size(const char *text)
{
	const unsigned char *byte = (const unsigned char *)text;
	const size_t size = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
	size_t i;

	if (byte[0] < 0xc2 || byte[0] > 0xf4)
		return 1;
	for (i = 1; i < size; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return 1;
	/* Longer than needed, a surrogate, or beyond the last character. */
	if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] > 0x9f) ||
	    (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] > 0x8f))
		return 1;
	return size;
}

/*
 * Matches as <uapi/linux/eventlog_device.h> states. Backtracks to the last *
 * only, so the time is bounded by the product of both lengths.
 */
static bool matches_pattern(const char *pattern, const char *name)
{
	const char *behind_star = NULL;
	const char *from = NULL;

	for (;;) {
		const size_t escape = pattern[0] == '\\' && pattern[1] ? 1 : 0;

		if (*pattern == '*') {
			behind_star = ++pattern;
			from = name;
		} else if (!*name) {
			return !*pattern;
		} else if (*pattern == '?') {
			pattern++;
			name += character_size(name);
		} else if (pattern[escape] == *name) {
			pattern += escape + 1;
			name++;
		} else if (behind_star) {
			pattern = behind_star;
			from += character_size(from);
			name = from;
		} else {
			return false;
		}
	}
}

static bool is_terminated(const char *text, size_t size)
{
	return strnlen(text, size) < size;
}

static bool is_valid_filter(const struct eventlog_filter *filter)
{
	u32 i;

	for (i = 0; i < filter->rule_count; i++) {
		const struct eventlog_filter_rule *rule = &filter->rules[i];

		if (!is_terminated(rule->provider, sizeof(rule->provider)) ||
		    !is_terminated(rule->event, sizeof(rule->event)) ||
		    (rule->flags & ~EVENTLOG_RULE_SESSIONS))
			return false;
	}
	for (i = 0; i < filter->process_count; i++) {
		const struct eventlog_process_filter *process = &filter->processes[i];

		if (!is_terminated(process->name, sizeof(process->name)) || process->reserved)
			return false;
	}
	return true;
}

static int get_array(void *to, u64 from, u32 count, size_t size)
{
	void *copy;

	if (!count)
		return 0;
	copy = memdup_user(u64_to_user_ptr(from), count * size);
	if (IS_ERR(copy))
		return PTR_ERR(copy);
	*(void **)to = copy;
	return 0;
}

/* Returns 0 or an error. The caller frees the filter in any case. */
int eventlog_filter_get(struct eventlog_filter *filter,
			const struct eventlog_subscription_request *wanted)
{
	int error;

	if (!wanted->rule_count || wanted->rule_count > EVENTLOG_RULES_MAX ||
	    wanted->session_count > EVENTLOG_SESSIONS_MAX ||
	    wanted->process_count > EVENTLOG_PROCESSES_MAX)
		return -EINVAL;
	error = get_array(&filter->rules, wanted->rules, wanted->rule_count,
			  sizeof(*filter->rules));
	if (!error)
		error = get_array(&filter->sessions, wanted->sessions, wanted->session_count,
				  sizeof(*filter->sessions));
	if (!error)
		error = get_array(&filter->processes, wanted->processes, wanted->process_count,
				  sizeof(*filter->processes));
	if (error)
		return error;
	filter->rule_count = wanted->rule_count;
	filter->session_count = wanted->session_count;
	filter->process_count = wanted->process_count;
	return is_valid_filter(filter) ? 0 : -EINVAL;
}

void eventlog_filter_free(struct eventlog_filter *filter)
{
	kfree(filter->rules);
	kfree(filter->sessions);
	kfree(filter->processes);
}

/* Fills in the credentials of the caller. */
void eventlog_consumer_cred_get(struct eventlog_consumer_cred *cred)
{
	cred->uid = current_euid();
	cred->may_receive_all = perfmon_capable();
	cred->capabilities = current_cred()->cap_permitted;
	cred->pid_ns = task_active_pid_ns(current);
	cred->user_ns = current_user_ns();
}

/*
 * Returns whether the consumer has all capabilities of the source, as ptrace(2)
 * asks. The creator of a user namespace has all capabilities in it. From within
 * a user namespace nothing outside it is visible.
 */
static bool has_capabilities_of(const struct eventlog_consumer_cred *cred,
				const struct eventlog_source *source)
{
	const struct user_namespace *user_ns;

	if (source->user_ns == cred->user_ns)
		return cap_issubset(source->capabilities, cred->capabilities);
	for (user_ns = source->user_ns; user_ns->parent; user_ns = user_ns->parent)
		if (user_ns->parent == cred->user_ns)
			return cap_isclear(source->capabilities) ||
			       uid_eq(user_ns->owner, cred->uid);
	return false;
}

/*
 * Returns whether the process has a number in the consumer's PID namespace. From
 * within a container, processes on the host and in other containers have none:
 * they cannot be named there, and therefore not be traced with ptrace(2).
 */
static bool is_visible(const struct eventlog_consumer_cred *cred, struct pid *process)
{
	return pid_nr_ns(process, cred->pid_ns);
}

/*
 * Returns whether the consumer owns the source's process and sees it, or may
 * receive all events.
 */
bool eventlog_may_receive(const struct eventlog_consumer_cred *cred,
			  const struct eventlog_source *source)
{
	return cred->may_receive_all ||
	       (source->process && !source->is_private && uid_eq(source->uid, cred->uid) &&
		is_visible(cred, source->process) && has_capabilities_of(cred, source));
}

bool eventlog_filter_wants_process(const struct eventlog_filter *filter,
				   struct pid_namespace *pid_ns,
				   const struct eventlog_source *source)
{
	const u32 pid = source->process ? pid_nr_ns(source->process, pid_ns) : 0;
	u32 i;

	for (i = 0; i < filter->process_count; i++) {
		const struct eventlog_process_filter *process = &filter->processes[i];

		if ((!process->pid || process->pid == pid) &&
		    (!process->name[0] || matches_pattern(process->name, source->process_name)))
			return true;
	}
	return !filter->process_count;
}

static bool matches_provider(const struct eventlog_filter_rule *rule,
			     const struct eventlog_source *source)
{
	return source->exact_name_only ? !strcmp(rule->provider, source->name) :
				  matches_pattern(rule->provider, source->name);
}

/* Returns the best result of all rules. */
enum eventlog_filter_result eventlog_filter_match(const struct eventlog_filter *filter,
						  const struct eventlog_source_event *event)
{
	enum eventlog_filter_result result = EVENTLOG_UNWANTED;
	u32 i;

	for (i = 0; i < filter->rule_count; i++) {
		const struct eventlog_filter_rule *rule = &filter->rules[i];

		if ((rule->level && event->level > rule->level) ||
		    (rule->keywords && event->keywords && !(rule->keywords & event->keywords)) ||
		    !matches_provider(rule, event->source) ||
		    !matches_pattern(rule->event, event->name))
			continue;
		if (!(rule->flags & EVENTLOG_RULE_SESSIONS))
			return EVENTLOG_WANTED;
		if (event->flags & EVENTLOG_EVENT_SESSION_BOUND)
			result = EVENTLOG_IN_SESSION;
	}
	return result;
}
