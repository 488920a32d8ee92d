// SPDX-License-Identifier: GPL-2.0-only
//
// A data race for kernels with KCSAN: two threads on separate processors change one number while
// the module is loaded.
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned long shared_number;
static struct task_struct* threads[2];

static int change_what_is_shared(void* unused) {
    while (!kthread_should_stop()) {
        for (int i = 0; i < 2000; ++i) {
            barrier();                 // separate changes, not one sum
            shared_number += 0x12345;  // many bits: KCSAN may ignore a change of one bit
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
