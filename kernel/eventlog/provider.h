/* SPDX-License-Identifier: GPL-2.0 */
/* Providers of the kernel and its modules: shared functions of provider.c and schema.c. */
#ifndef EVENTLOG_PROVIDER_H
#define EVENTLOG_PROVIDER_H

#include <linux/eventlog.h>

/* A schema in the binary form that all consumers read: see elog(5). */
struct eventlog_schema {
	u8 *bytes;
	u32 size;
	u64 hash;
};

/* schema.c */
int eventlog_schema_check(struct eventlog_provider *provider);
int eventlog_schema_make(const struct eventlog_provider *provider, struct eventlog_schema *schema);

/* kernel_provider.c */
int eventlog_kernel_provider_init(void);
void eventlog_kernel_provider_exit(void);

#endif /* EVENTLOG_PROVIDER_H */
