// SPDX-License-Identifier: GPL-2.0
/* Loads and unloads the module. The device is registered last, when all that it uses exists. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/miscdevice.h>
#include <linux/module.h>

#include "eventlog.h"
#include "provider.h"
#include "relay.h"
#include "source.h"

static void do_nothing(void *data)
{
}

static int __init eventlog_init(void)
{
	int error;

	mutex_lock(&eventlog_registry_lock);
	error = eventlog_with_event_mutex(do_nothing, NULL);
	mutex_unlock(&eventlog_registry_lock);
	if (error) {
		pr_err("tracing rejects the events of this module: it is switched off, or a module that is not free has tainted the kernel\n");
		return -EOPNOTSUPP;
	}
	eventlog_account_init();
	error = eventlog_subscriptions_init();
	if (error)
		return error;
	error = eventlog_relay_init();
	if (error)
		goto exit_subscriptions;
	error = eventlog_kernel_provider_init();
	if (error)
		goto exit_relay;
	error = misc_register(&eventlog_device);
	if (error)
		goto exit_kernel_provider;
	return 0;

exit_kernel_provider:
	eventlog_kernel_provider_exit();
exit_relay:
	eventlog_relay_exit();
exit_subscriptions:
	eventlog_subscriptions_exit();
	return error;
}

static void __exit eventlog_exit(void)
{
	misc_deregister(&eventlog_device);
	eventlog_kernel_provider_exit();
	eventlog_relay_exit();
	eventlog_subscriptions_exit();
	eventlog_events_exit();
}

module_init(eventlog_init);
module_exit(eventlog_exit);

MODULE_DESCRIPTION("Events of applications as trace events, through /dev/eventlog");
MODULE_LICENSE("GPL");
