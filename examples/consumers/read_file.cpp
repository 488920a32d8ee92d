// SPDX-License-Identifier: MIT
//
// Reads a recording with libelog and prints the events over 10 ms with their bakers.
//
//     elog record -e bakery -o run.elog -- ./spans_and_counters
//     ./read_file run.elog
#include <iostream>

#include <elog/elog.hpp>

int main(int, char** arguments) try {
    elog::source file = elog::open_file(arguments[1], {.where = "took > 10ms"});
    for (const elog::record& record : file) {
        std::cout << record.name() << ' ' << record["took"].text() << ' '
                  << record["baker"].as<std::string_view>().value_or("-") << '\n';
    }
} catch (const elog::error& mistake) {
    std::cerr << mistake.what() << '\n';
    return 1;
}
