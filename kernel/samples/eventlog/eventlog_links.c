// SPDX-License-Identifier: GPL-2.0
/*
 * A provider in a module that dumps its state: the network devices. A listener
 * that comes late gets an event `link` for each device, alone, and then
 * `state_complete`; changes go to all listeners.
 *
 *	elog record --via device -e 'links:*'
 */
#include <linux/eventlog.h>
#include <linux/if.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <net/net_namespace.h>

struct link_event {
	u32 index;
	char name[IFNAMSIZ];
	bool is_up;
};

EVENTLOG_EVENT(link,
	       EVENTLOG_FIELDS(EVENTLOG_FIELD(link, index),
			       EVENTLOG_ARRAY(link, name, .format = EVENTLOG_FORMAT_CHARACTERS),
			       EVENTLOG_FIELD(link, is_up)),
	       .text = "A network device, as it is now");

EVENTLOG_STATE_COMPLETE;

static struct link_event describe(const struct net_device *device)
{
	struct link_event payload = {
		.index = device->ifindex,
		.is_up = device->flags & IFF_UP,
	};

	strscpy(payload.name, device->name, sizeof(payload.name));
	return payload;
}

/*
 * A change is emitted with rtnl_lock held, too. So a listener gets each one either
 * before the dump, which shows it, or behind the whole dump.
 */
static void dump(struct eventlog_provider *provider, const struct eventlog_dump *dump)
{
	struct net_device *device;

	rtnl_lock();
	for_each_netdev(&init_net, device) {
		const struct link_event payload = describe(device);

		eventlog_emit_state(dump, &event_link, &payload);
	}
	rtnl_unlock();
}

EVENTLOG_PROVIDER(links, EVENTLOG_PROVIDES(&event_link, &event_state_complete),
		  .text = "Network devices of the first network namespace", .dump = dump);

/* Called with rtnl_lock held. */
static int on_change(struct notifier_block *block, unsigned long change, void *info)
{
	const struct net_device *device = netdev_notifier_info_to_dev(info);

	if ((change == NETDEV_UP || change == NETDEV_DOWN) && net_eq(dev_net(device), &init_net)) {
		const struct link_event payload = describe(device);

		eventlog_emit(&event_link, &payload);
	}
	return NOTIFY_DONE;
}

static struct notifier_block notifier = { .notifier_call = on_change };

static int __init eventlog_links_init(void)
{
	/* The dump needs rtnl_lock: do not hold it here, nor in eventlog_links_exit(). */
	int error = register_netdevice_notifier(&notifier);

	if (error)
		return error;
	/* After the notifier, so that no change between dump and notifier is missed. */
	error = eventlog_provider_register(&links_provider);
	if (error)
		unregister_netdevice_notifier(&notifier);
	return error;
}

static void __exit eventlog_links_exit(void)
{
	/* Before the notifier, whose removal reports each device as down. */
	eventlog_provider_unregister(&links_provider);
	unregister_netdevice_notifier(&notifier);
}

module_init(eventlog_links_init);
module_exit(eventlog_links_exit);

MODULE_DESCRIPTION("Network devices for subscribers of /dev/eventlog");
MODULE_LICENSE("GPL");
