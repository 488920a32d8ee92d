// SPDX-License-Identifier: MIT
//
// Writes bursts of events and prints their times. A line on standard input is a command; a line on
// standard output is its answer, numbers or "cannot: " and a sentence.
//
//     wait EVENT               until the event has a listener
//     emit EVENT               a burst on one CPU: nanoseconds for each event
//     alone 0|1, both          a burst by one of two threads with a CPU each, or by both at once
//     one, many                a burst by one thread, or by 64 on two CPUs: processor time
//     load PEER PATH ARGUMENT  a shared object with the functions of peers/peer.h
//     peer PEER                a burst of the peer
//     end PEER                 the number of events that the peer got, and of those lost
//     burst                    the number of events in a burst
//     emitted                  the number of retransmission events so far
//     counters                 the numbers of events of the provider `wanted` written and lost
#include <cstdio>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "answer.hpp"
#include "burst.hpp"
#include "failure.hpp"
#include "own_bursts.hpp"
#include "peer_bursts.hpp"
#include "thread_bursts.hpp"

namespace bench {
namespace {

const std::string& argument(const words& command, std::size_t index) {
    if (index >= command.size()) {
        throw failure("'{}' needs {} words behind it.", command.front(), index);
    }
    return command[index];
}

answer obey(const words& command, peers& others) {
    const std::string& name = command.front();
    if (name == "wait") {
        wait_for_listener(argument(command, 1));
        return {};
    }
    if (name == "emit") {
        return emit_burst(argument(command, 1));
    }
    if (name == "alone") {
        return burst_alone(argument(command, 1) == "0" ? 0 : 1);
    }
    if (name == "both") {
        return burst_by_both();
    }
    if (name == "one") {
        return burst_by_one();
    }
    if (name == "many") {
        return burst_by_many();
    }
    if (name == "load") {
        others.load(argument(command, 1), argument(command, 2), argument(command, 3));
        return {};
    }
    if (name == "peer") {
        return others.emit_burst(argument(command, 1));
    }
    if (name == "end") {
        return others.end(argument(command, 1));
    }
    if (name == "burst") {
        return {static_cast<double>(burst)};
    }
    if (name == "emitted") {
        return emitted();
    }
    if (name == "counters") {
        return counters_of_wanted();
    }
    throw failure("There is no command '{}'.", name);
}

void print(const answer& numbers) {
    const char* separator = "";
    for (const double number : numbers) {
        fmt::print("{}{}", separator, number);
        separator = " ";
    }
    fmt::print("\n");
}

void obey_all() {
    peers others;
    for (std::string line; std::getline(std::cin, line);) {
        words command;
        std::istringstream stream(line);
        for (std::string word; stream >> word;) {
            command.push_back(word);
        }
        if (command.empty()) {
            continue;
        }
        try {
            print(obey(command, others));
        } catch (const failure& error) {
            fmt::print("cannot: {}\n", error.what());
        }
        static_cast<void>(std::fflush(stdout));
    }
}

}  // namespace
}  // namespace bench

int main() {
    try {
        bench::obey_all();
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "burst_load: {}\n", error.what());
    }
    return 1;
}
