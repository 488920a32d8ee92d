// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A module that emits every event of kernel_zoo.schema.
 */
#include <linux/in.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#define CREATE_TRACE_POINTS
#include "kernel_zoo.h"

static void say_numbers(void) {
    trace_kernel_zoo_numbers(true, 'x', -128, -32768, -2147483647 - 1, -5000000000LL, 255, 65535,
                             4294967295U, 18446744073709551615ULL);
    trace_kernel_zoo_numbers(false, '\n', 0, 0, 0, 0, 0, 0, 0, 0);
    trace_kernel_zoo_named(KERNEL_ZOO_SIZE_LARGE, KERNEL_ZOO_BALANCE_DEBT,
                           KERNEL_ZOO_DIET_GRASS | KERNEL_ZOO_DIET_FISH,
                           (const u8[]){KERNEL_ZOO_SIZE_LARGE, KERNEL_ZOO_SIZE_HUGE},
                           KERNEL_ZOO_DISTANCE_LEAST, 7,
                           KERNEL_ZOO_SIGNS_LOW | KERNEL_ZOO_SIGNS_HIGH, 0, 2);
    trace_kernel_zoo_named(9, 0, 0, (const u8[]){0, 1}, -1, 0, 0, 1, 0);
}

static void say_formats(void) {
    static const u8 four[4] = {192, 0, 2, 1};
    static const u8 six[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    static const u8 hardware[6] = {0, 1, 2, 0xfd, 0xfe, 0xff};

    trace_kernel_zoo_formats(0xfe, -2, -ENOENT, -1500000, 1700000000123456789ULL, 12345678901LL,
                             2048, 50);
    trace_kernel_zoo_addresses(four, six, hardware, htonl(INADDR_LOOPBACK), "label", "abc");
}

static void say_texts(void) {
    static char long_text[6000];
    static const u8 data[100] = {1, 255};
    static const u16 last[3] = {1, 2, 65535};

    memset(long_text, 'x', sizeof(long_text) - 1);
    trace_kernel_zoo_texts("name", data, 2, "\303\251", last);
    trace_kernel_zoo_texts(NULL, NULL, 5, "", last);
    trace_kernel_zoo_texts(long_text, data, sizeof(data), "short", last);
}

static void say_options(void) {
    static const u64 number = 1;
    static const bool flag = true;
    static const enum kernel_zoo_size size = KERNEL_ZOO_SIZE_HUGE;
    static const u8 where[4] = {10, 0, 0, 1};
    static const s16 row[2] = {-1, 2};
    static const s64 error = EINVAL;
    static const u64 took = 1;
    static const char letter = 'z';

    trace_kernel_zoo_options(&number, "name", "\1\2", 2, &flag, &size, where, row, &error, &took,
                             &letter);
    trace_kernel_zoo_options(NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static void say_sequences(void) {
    static const u32 delays[1000] = {150, 4294967295U};
    static const bool fed[3] = {true, false, true};
    static const u8 sizes[2] = {KERNEL_ZOO_SIZE_LARGE, KERNEL_ZOO_SIZE_HUGE};
    static const u64 wide[2] = {1, 18446744073709551615ULL};

    trace_kernel_zoo_sequences(delays, 2, fed, 3, sizes, 2, sizes, 1, wide, 2);
    trace_kernel_zoo_sequences(delays, 17, fed, 0, NULL, 0, NULL, 7, wide, 0);
    trace_kernel_zoo_sequences(delays, 1000, fed, 0, sizes, 0, sizes, 0, NULL, 7);
}

static void say_rest(void) {
    static const u8 address[16] = {[15] = 1};
    static const u64 two[2] = {1, 2};
    static const s16 three[3] = {-1, 0, 1};
    const struct kernel_zoo_wide_fields fields = {
        .session = 4711,
        .p1 = 1,
        .p3 = 3,
        .p4 = address,
        .p5 = "five",
        .p6 = "six",
        .p6_size = 3,
        .p7 = KERNEL_ZOO_SIZE_LARGE,
        .p10 = htonl(0x7f000001),
        .p12 = two,
        .p13 = three,
        .p13_count = 3,
    };

    trace_kernel_zoo_wide(&fields);
    trace_kernel_zoo_nothing(0);
    trace_kernel_zoo_names(1, 2, 3, 4, 5, NULL, NULL, 8);
}

/* A write to /sys/module/kernel_zoo/parameters/say emits all events. */
static int say(const char* text, const struct kernel_param* parameter) {
    say_numbers();
    say_formats();
    say_texts();
    say_options();
    say_sequences();
    say_rest();
    return 0;
}

static const struct kernel_param_ops say_operations = {.set = say};

module_param_cb(say, &say_operations, NULL, 0200);
MODULE_PARM_DESC(say, "Say everything");

static int __init kernel_zoo_begin(void) {
    return 0;
}

static void __exit kernel_zoo_end(void) {}

module_init(kernel_zoo_begin);
module_exit(kernel_zoo_end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Says everything that a trace event can carry");
