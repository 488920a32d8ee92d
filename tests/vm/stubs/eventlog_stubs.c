// SPDX-License-Identifier: GPL-2.0
/* A client of all interfaces of eventlog, in a kernel without it. Loads if all stubs do as documented. */
#include <linux/eventlog.h>
#include <linux/eventlog_relay.h>
#include <linux/eventlog_subscriber.h>
#include <linux/module.h>

struct sale_event {
	u64 amount;
};

EVENTLOG_EVENT(sale, EVENTLOG_FIELDS(EVENTLOG_FIELD(sale, amount)));

EVENTLOG_PROVIDER(shop, EVENTLOG_PROVIDES(&event_sale));

static void on_event(struct eventlog_subscriber *subscriber,
		     const struct eventlog_subscriber_event *what)
{
}

EVENTLOG_SUBSCRIBER(all, EVENTLOG_PATTERNS({ "*", "*" }), .on_event = on_event);

static u64 computed;

static u64 compute(void)
{
	return ++computed;
}

static bool is_without_channel(void)
{
	const struct eventlog_relay_options options = { .size = sizeof(options), .name = "shop" };
	const struct eventlog_relay_record record = { .event = 1 };
	struct eventlog_relay *channel = eventlog_relay_open(&options);
	struct eventlog_relay_reservation room = {};

	eventlog_relay_commit(&room);
	eventlog_relay_discard(&room);
	eventlog_relay_put(channel);
	eventlog_relay_close(channel);
	return PTR_ERR(channel) == -EOPNOTSUPP && !eventlog_relay_find("shop") &&
	       eventlog_relay_write(channel, &record) == -ENODEV &&
	       eventlog_relay_reserve(channel, &record, &room) == -ENODEV &&
	       eventlog_relay_flush(channel) == -ENODEV &&
	       eventlog_relay_reset(channel) == -ENODEV &&
	       eventlog_relay_consumed(channel, 0, 1) == -ENODEV &&
	       eventlog_relay_create_files(channel) == -ENODEV;
}

static int __init stubs_init(void)
{
	const int error = eventlog_provider_register(&shop_provider);

	EVENTLOG_EMIT(sale, .amount = compute());
	eventlog_provider_unregister(&shop_provider);
	return !error && !computed &&
	       eventlog_subscriber_register(&all_subscriber) == -EOPNOTSUPP &&
	       is_without_channel() ? 0 : -EINVAL;
}

static void __exit stubs_exit(void)
{
}

module_init(stubs_init);
module_exit(stubs_exit);

MODULE_DESCRIPTION("Clients in a kernel without eventlog, for tests");
MODULE_LICENSE("GPL");
