// SPDX-License-Identifier: GPL-2.0-only
//
// Two threads, each on a processor of its own, that change a number of both for as long as the
// module is loaded, for a kernel that looks for data races.
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned long shared_number;
static struct task_struct* threads[2];

static int change_what_is_shared(void* unused) {
    while (!kthread_should_stop()) {
        for (int i = 0; i < 2000; ++i) {
            barrier();                 // each change by itself, not their sum
            shared_number += 0x12345;  // many bits: KCSAN may pass over a change of one
        }
        schedule_timeout_interruptible(1);
    }
    return 0;
}

static void stop_all(void) {
    for (int i = 0; i < 2; ++i) {
        if (threads[i]) {
            kthread_stop(threads[i]);
        }
    }
}

static int __init begin(void) {
    for (unsigned int i = 0; i < 2; ++i) {
        struct task_struct* thread = kthread_run_on_cpu(change_what_is_shared, NULL, i, "racy/%u");
        if (IS_ERR(thread)) {
            stop_all();
            return PTR_ERR(thread);
        }
        threads[i] = thread;
    }
    return 0;
}

module_init(begin);
module_exit(stop_all);

MODULE_DESCRIPTION("A data race for a kernel to find");
MODULE_LICENSE("GPL");
