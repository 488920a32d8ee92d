// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of account.c: limits of a user and of all users, with the defaults of
 * the module: 4096 events for each user and 16384 for all.
 */
#include <linux/cred.h>
#include <linux/uidgid.h>

#include "../account.h"

#include "kunit.h"

#define EACH 4096

KUNIT_DEFINE_ACTION_WRAPPER(put_user_of_test, eventlog_user_put, struct eventlog_user *);

/*
 * Returns the user that a process with this uid is charged to. Its privileges
 * are the test's own.
 */
static struct eventlog_user *user_of(struct kunit *test, unsigned int uid)
{
	struct cred *changed = prepare_creds();
	struct eventlog_user *user;
	const struct cred *own;

	KUNIT_ASSERT_NOT_NULL(test, changed);
	changed->euid = make_kuid(&init_user_ns, uid);
	own = override_creds(changed);
	user = eventlog_user_get();
	revert_creds(own);
	put_cred(changed);
	KUNIT_ASSERT_NOT_NULL(test, user);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, put_user_of_test, user));
	return user;
}

/* Charges without privileges. */
static bool charge(struct kunit *test, struct eventlog_user *user, unsigned int count)
{
	struct cred *changed = prepare_creds();
	const struct cred *own;
	bool allowed;

	KUNIT_ASSERT_NOT_NULL(test, changed);
	cap_clear(changed->cap_effective);
	own = override_creds(changed);
	allowed = eventlog_charge(user, EVENTLOG_EVENTS, count);
	revert_creds(own);
	put_cred(changed);
	return allowed;
}

static void uncharge(struct eventlog_user *user, unsigned int count)
{
	eventlog_uncharge(user, EVENTLOG_EVENTS, count);
}

static void knows_each_user_once(struct kunit *test)
{
	struct eventlog_user *one = user_of(test, 1001);

	KUNIT_EXPECT_PTR_EQ(test, one, user_of(test, 1001));
	KUNIT_EXPECT_PTR_NE(test, one, user_of(test, 1002));
}

static void enforces_the_limit_of_a_user(struct kunit *test)
{
	struct eventlog_user *user = user_of(test, 1001);

	KUNIT_EXPECT_FALSE(test, charge(test, user, EACH + 1));
	KUNIT_EXPECT_FALSE(test, charge(test, user, UINT_MAX));
	KUNIT_EXPECT_TRUE(test, charge(test, user, EACH - 1));
	KUNIT_EXPECT_FALSE(test, charge(test, user, 2));
	KUNIT_EXPECT_TRUE(test, charge(test, user, 1));
	KUNIT_EXPECT_FALSE(test, charge(test, user, 1));
	uncharge(user, 1);
	KUNIT_EXPECT_TRUE(test, charge(test, user, 1));
	uncharge(user, EACH);
}

static void counts_resources_separately(struct kunit *test)
{
	struct eventlog_user *user = user_of(test, 1001);

	KUNIT_EXPECT_TRUE(test, charge(test, user, EACH));
	KUNIT_EXPECT_TRUE(test, eventlog_charge(user, EVENTLOG_FILES, 1));
	eventlog_uncharge(user, EVENTLOG_FILES, 1);
	uncharge(user, EACH);
}

/* An eighth of the total limit is reserved for root. */
static void reserves_a_part_for_root(struct kunit *test)
{
	struct eventlog_user *users[3];
	struct eventlog_user *last = user_of(test, 1100);
	struct eventlog_user *root = user_of(test, 0);
	int i;

	for (i = 0; i < ARRAY_SIZE(users); i++) {
		users[i] = user_of(test, 1001 + i);
		KUNIT_EXPECT_TRUE(test, charge(test, users[i], EACH));
	}
	KUNIT_EXPECT_FALSE(test, charge(test, last, EACH / 2 + 1));
	KUNIT_EXPECT_TRUE(test, charge(test, last, EACH / 2));
	KUNIT_EXPECT_FALSE(test, charge(test, last, 1));
	KUNIT_EXPECT_TRUE(test, eventlog_charge(root, EVENTLOG_EVENTS, EACH / 2));
	/* The total limit applies to root, too. */
	KUNIT_EXPECT_FALSE(test, eventlog_charge(root, EVENTLOG_EVENTS, 1));
	uncharge(root, EACH / 2);
	uncharge(last, EACH / 2);
	for (i = 0; i < ARRAY_SIZE(users); i++)
		uncharge(users[i], EACH);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(knows_each_user_once),
	KUNIT_CASE(enforces_the_limit_of_a_user),
	KUNIT_CASE(counts_resources_separately),
	KUNIT_CASE(reserves_a_part_for_root),
	{}
};

static struct kunit_suite suite = { .name = "eventlog_account", .test_cases = cases };

kunit_test_suite(suite);
