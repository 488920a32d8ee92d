// SPDX-License-Identifier: GPL-2.0
/*
 * Events in NMI context for tests of the module, alternating with events outside of it.  Writing
 * to the parameter `emit` emits that number of each.
 */
#include <linux/eventlog.h>
#include <linux/hardirq.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/preempt.h>

struct nmi_event {
	u64 number;
	u32 in_nmi;
};

EVENTLOG_EVENT(nmi, EVENTLOG_FIELDS(EVENTLOG_FIELD(nmi, number), EVENTLOG_FIELD(nmi, in_nmi)));

EVENTLOG_PROVIDER(nmis, EVENTLOG_PROVIDES(&event_nmi));

/* Only the count that in_nmi() reads differs: a module cannot request a real NMI. */
static void emit_in_nmi(u64 number)
{
	unsigned long flags;

	local_irq_save(flags);
	__preempt_count_add(NMI_OFFSET);
	EVENTLOG_EMIT(nmi, .number = number, .in_nmi = !!in_nmi());
	__preempt_count_sub(NMI_OFFSET);
	local_irq_restore(flags);
}

static int emit(const char *text, const struct kernel_param *parameter)
{
	unsigned int count, i;
	const int error = kstrtouint(text, 0, &count);

	for (i = 0; !error && i < count; i++) {
		EVENTLOG_EMIT(nmi, .number = i, .in_nmi = !!in_nmi());
		emit_in_nmi(i);
	}
	return error;
}

static const struct kernel_param_ops emit_operations = {
	.set = emit,
};
module_param_cb(emit, &emit_operations, NULL, 0200);
MODULE_PARM_DESC(emit, "emits this number of events in NMI context, and outside of it");

static int __init provider_init(void)
{
	return eventlog_provider_register(&nmis_provider);
}

static void __exit provider_exit(void)
{
	eventlog_provider_unregister(&nmis_provider);
}

module_init(provider_init);
module_exit(provider_exit);

MODULE_DESCRIPTION("Events in NMIs, for tests of eventlog");
MODULE_LICENSE("GPL");
