// SPDX-License-Identifier: MIT
//
// Emits every event of zoo.schema through the header of elog schema gen --lang c. The programs
// beside this one emit the same in their languages. With "elsewhere", also from a second source.
#include "zoo.h"

#include <string.h>

void emit_elsewhere(void);

#ifdef ELSEWHERE

void emit_elsewhere(void) {
    zoo_nothing();
}

#else

static void emit_options(void) {
    const uint64_t number = 0;
    const bool flag = true;
    const enum zoo_size size = ZOO_SIZE_HUGE;
    const uint8_t address[4] = {10, 0, 0, 1};
    const int16_t row[2] = {-1, 2};
    zoo_options(&number, "", "", 0, &flag, &size, address, row);
    zoo_options(NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL);
}

static void emit_long_texts(void) {
    static char long_text[70001];
    // Characters of two bytes, so that truncation may split one.
    for (size_t i = 0; i + 1 < sizeof long_text; i += 2) {
        memcpy(long_text + i, "\xc3\xa9", 2);
    }
    static const unsigned char data[30001];
    zoo_long_texts("short", data, 2, 7, "text");
    zoo_long_texts(long_text, data, sizeof data, 7, "short");
}

static void emit_sequences(void) {
    const uint32_t delays[] = {150, UINT32_MAX};
    const bool fed[] = {true, false, true};
    const double weights[] = {0.5, -0.25};
    const uint8_t sizes[] = {ZOO_SIZE_LARGE, ZOO_SIZE_HUGE};
    const int16_t money[] = {ZOO_BALANCE_DEBT};
    const uint32_t eats[] = {ZOO_DIET_GRASS | ZOO_DIET_FISH, ZOO_DIET_MEAT};
    const int64_t took[] = {1500, 2500000};
    const int8_t levels[] = {INT8_MIN, 0};
    zoo_sequences(delays, 2, fed, 3, weights, 2, sizes, 2, money, 1, eats, 2, took, 2, "den",
                  levels, 2);
    zoo_sequences(delays, 0, fed, 0, NULL, 0, NULL, 7, money, 0, NULL, 0, NULL, 0, "", NULL, 7);
}

static void emit_long_sequences(void) {
    static uint64_t numbers[10000];
    static uint16_t delays[15000];
    for (size_t i = 0; i < 10000; ++i) {
        numbers[i] = i;
    }
    for (size_t i = 0; i < 15000; ++i) {
        delays[i] = (uint16_t)i;
    }
    const int16_t row[2] = {-1, 2};
    zoo_long_sequences("short", numbers, 3, row, delays, 2);
    zoo_long_sequences("short", numbers, 10000, row, delays, 15000);
}

int main(void) {
    const uint8_t sizes[2] = {ZOO_SIZE_LARGE, ZOO_SIZE_HUGE};
    const uint8_t four[4] = {192, 0, 2, 1};
    const uint8_t six[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    const uint8_t mac[6] = {0, 1, 2, 0xfd, 0xfe, 0xff};
    const char label[8] = "label";
    const uint8_t network_bytes[4] = {127, 0, 0, 1};
    uint32_t network = 0;
    memcpy(&network, network_bytes, sizeof network);
    const uint16_t last[3] = {1, 2, 65535};

    zoo_numbers(true, 'x', INT8_MIN, INT16_MIN, INT32_MIN, INT64_MIN, UINT8_MAX, UINT16_MAX,
                UINT32_MAX, UINT64_MAX, 0.5F, -0.25);
    zoo_named(ZOO_SIZE_LARGE, ZOO_BALANCE_DEBT, ZOO_DIET_GRASS | ZOO_DIET_FISH, sizes);
    zoo_formats(0xdeadbeef, -2, 1500000, 1700000000123456789, 12345678901, 2048, four, six, mac,
                label, network, 50);
    zoo_texts("name", "\x01\xff", 2, "\xc3\xa9", last);
    emit_options();
    emit_long_texts();
    emit_sequences();
    emit_long_sequences();
    zoo_visit(1500, 7, "dawn");
    zoo_pause(2500000);
    zoo_visitors(3);
    zoo_nothing();
    zoo_delete(1, 2, 3, 4, 5, "text");
    emit_elsewhere();
    return zoo_nothing_enabled() && zoo_delete_enabled() ? 0 : 1;
}

#endif
