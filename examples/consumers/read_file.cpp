// SPDX-License-Identifier: MIT
//
// Reads a recording with libelog and prints the events over 10 ms with their bakers.
//
//     elog record -e bakery -o run.elog -- ./timed_scopes_and_gauges
//     ./read_file run.elog
#include <iostream>

#include <elog/elog.hpp>

int main(int, char** arguments) try {
    elog::source file = elog::open(arguments[1], {.where = "duration > 10ms"});
    for (const elog::record& record : file) {
        std::cout << record.name() << ' ' << record["duration"].text() << ' '
                  << record["baker"].as<std::string_view>().value_or("-") << '\n';
    }
} catch (const elog::error& mistake) {
    std::cerr << mistake.what() << '\n';
    return 1;
}
