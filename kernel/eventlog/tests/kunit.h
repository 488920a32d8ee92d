/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers that several suites share. */
#ifndef EVENTLOG_KUNIT_H
#define EVENTLOG_KUNIT_H

#include <kunit/test.h>
#include <linux/err.h>

#include "../layout.h"

KUNIT_DEFINE_ACTION_WRAPPER(eventlog_kunit_free_layout, eventlog_layout_free,
			    struct eventlog_layout *);

/* Parses a valid description. The layout is freed with the test. */
static inline struct eventlog_layout *eventlog_kunit_layout(struct kunit *test,
							    const char *description)
{
	struct eventlog_layout *layout = eventlog_layout_parse(description);

	KUNIT_ASSERT_NOT_ERR_OR_NULL_MSG(test, layout, "\"%s\" is refused", description);
	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, eventlog_kunit_free_layout, layout));
	return layout;
}

#endif /* EVENTLOG_KUNIT_H */
