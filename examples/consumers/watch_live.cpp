// SPDX-License-Identifier: MIT
//
// Subscribes to running programs with libelog, and prints each event with time, process, name and
// fields, until it is interrupted:
//
//     ./watch_live 'bakery:*' 'hello:greeting@info'
#include <csignal>
#include <iostream>

#include <elog/elog.hpp>

namespace {

elog::source* watched = nullptr;

void stop_watching(int /*signal*/) {
    watched->stop();
}

void show_loss(const elog::loss& missing) {
    std::cerr << missing.count << " events are missing\n";
}

void show(const elog::record& record) {
    std::cout << record.time().time_since_epoch().count() << ' ' << record.process() << '-'
              << record.pid() << ' ' << record.provider() << ':' << record.name();
    const elog::event event = record.event();
    for (std::size_t index = 0; index < event.size(); ++index) {
        std::cout << ' ' << event[index].name() << '=' << record[index].text();
    }
    std::cout << std::endl;
}

}  // namespace

int main(int argument_count, char** arguments) try {
    elog::source events =
        elog::open("memory:", {.events = {arguments + 1, arguments + argument_count},
                               .exclude_self = true,
                               .on_loss = show_loss});
    watched = &events;
    std::signal(SIGINT, stop_watching);
    std::signal(SIGTERM, stop_watching);
    for (const elog::record& record : events) {
        show(record);
    }
} catch (const elog::error& mistake) {
    std::cerr << mistake.what() << '\n';
    return 1;
}
