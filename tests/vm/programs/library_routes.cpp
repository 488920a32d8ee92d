// SPDX-License-Identifier: MIT
//
// Reads the events of user_events_load by several routes of libelog at once, in one event loop:
// ADDRESS...
//
// Prints "ready" when all sources are open. When standard input ends, it stops them, reads the rest
// and prints a line for each address: the records that are right (consecutive, with their fields),
// all others, and the losses.
#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <elog/elog.hpp>

namespace {

struct route {
    std::string address;
    elog::source source;
    std::uint64_t right = 0;
    std::uint64_t wrong = 0;
};

bool is_right(const elog::record& record, std::uint64_t number) {
    return record.provider() == "load" && record.name() == "item" && !record.process().empty() &&
           record["number"].as<std::uint64_t>() == number &&
           record["amount"].as<std::uint64_t>() == number % 97 &&
           record["word"].as<std::string_view>() == "word " + std::to_string(number % 13);
}

void read(route& from) {
    while (const std::optional<elog::record> record = from.source.try_get()) {
        if (is_right(*record, from.right)) {
            ++from.right;
        } else {
            ++from.wrong;
        }
    }
}

void run(std::vector<route>& routes) {
    std::vector<pollfd> waiting;
    for (route& each : routes) {
        waiting.push_back({each.source.descriptor(), POLLIN, 0});
    }
    waiting.push_back({STDIN_FILENO, POLLIN, 0});
    for (std::size_t open = routes.size(); open != 0;) {
        if (::poll(waiting.data(), waiting.size(), -1) < 0) {
            continue;
        }
        for (std::size_t i = 0; i < routes.size(); ++i) {
            if (waiting[i].revents == 0) {
                continue;
            }
            read(routes[i]);
            if (routes[i].source.is_over()) {
                waiting[i].fd = -1;
                --open;
            }
        }
        char byte = 0;
        if (waiting.back().revents != 0 && ::read(STDIN_FILENO, &byte, 1) <= 0) {
            waiting.back().fd = -1;
            for (route& each : routes) {
                each.source.stop();
            }
        }
    }
}

}  // namespace

int main(int argument_count, char** arguments) try {
    std::vector<route> routes;
    for (int i = 1; i < argument_count; ++i) {
        routes.push_back({arguments[i], elog::open(arguments[i])});
    }
    std::cout << "ready" << std::endl;
    run(routes);
    for (const route& each : routes) {
        std::cout << each.address << ' ' << each.right << " right " << each.wrong << " wrong "
                  << each.source.totals().lost << " lost\n";
        for (const std::string& complaint : each.source.complaints()) {
            std::cout << complaint << '\n';
        }
    }
} catch (const elog::error& mistake) {
    std::cerr << mistake.what() << '\n';
    return 1;
}
