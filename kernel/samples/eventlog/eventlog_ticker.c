// SPDX-License-Identifier: GPL-2.0
/* The example of eventlog(9): a provider with one event each second. */
#include <linux/eventlog.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/timer.h>

struct tick_event {
	u64 count;
};

EVENTLOG_EVENT(tick,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(tick, count, .unit = "s",
					      .text = "since the module was loaded")),
	       .level = EVENTLOG_LEVEL_VERBOSE, .text = "A second has passed");

EVENTLOG_PROVIDER(ticker, EVENTLOG_PROVIDES(&event_tick), .text = "Counts the seconds");

static void on_time(struct timer_list *timer);
static DEFINE_TIMER(timer, on_time);
static u64 seconds;

static void on_time(struct timer_list *unused)
{
	seconds++;
	EVENTLOG_EMIT(tick, .count = seconds);
	mod_timer(&timer, jiffies + HZ);
}

static int __init ticker_init(void)
{
	const int error = eventlog_provider_register(&ticker_provider);

	if (error)
		return error;
	mod_timer(&timer, jiffies + HZ);
	return 0;
}

static void __exit ticker_exit(void)
{
	del_timer_sync(&timer);
	eventlog_provider_unregister(&ticker_provider);
}

module_init(ticker_init);
module_exit(ticker_exit);

MODULE_DESCRIPTION("An event each second, for who listens through /dev/eventlog");
MODULE_LICENSE("GPL");
