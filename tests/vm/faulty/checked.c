// SPDX-License-Identifier: GPL-2.0-only
//
// A KUnit suite for kernels with checkers: a passing case, a failing one, and a fault for each
// checker.
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static DEFINE_SPINLOCK(one_lock);
static DEFINE_SPINLOCK(other_lock);

static void passes(struct kunit* test) {
    KUNIT_EXPECT_EQ(test, 1 + 1, 2);
}

static void fails(struct kunit* test) {
    KUNIT_EXPECT_EQ(test, 1 + 1, 3);
}

static void sleeps_with_a_lock(struct kunit* test) {
    spin_lock(&one_lock);
    might_sleep();
    spin_unlock(&one_lock);
}

static void lock_order_inversion(struct kunit* test) {
    spin_lock(&one_lock);
    spin_lock(&other_lock);
    spin_unlock(&other_lock);
    spin_unlock(&one_lock);
    spin_lock(&other_lock);
    spin_lock(&one_lock);
    spin_unlock(&one_lock);
    spin_unlock(&other_lock);
}

static void writes_after_free(struct kunit* test) {
    char* bytes = kmalloc(64, GFP_KERNEL);
    KUNIT_ASSERT_NOT_NULL(test, bytes);
    kfree(bytes);
    OPTIMIZER_HIDE_VAR(bytes);
    bytes[32] = 1;
}

// In this order: lockdep reports once only, and not after a report of KASAN.
static struct kunit_case cases[] = {
    KUNIT_CASE(passes),
    KUNIT_CASE(fails),
    KUNIT_CASE(sleeps_with_a_lock),
    KUNIT_CASE(lock_order_inversion),
    KUNIT_CASE(writes_after_free),
    {},
};

static struct kunit_suite suite = {.name = "checked", .test_cases = cases};
kunit_test_suite(suite);

MODULE_DESCRIPTION("Faults for a kernel's checkers to find");
MODULE_LICENSE("GPL");
