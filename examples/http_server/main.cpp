// SPDX-License-Identifier: MIT
//
// A small HTTP/1.1 server on 127.0.0.1, a thread for each connection, instrumented like a real one:
// a session for each connection, a timed scope for each request, a gauge of open connections, and
// the current state for new listeners. events.hpp declares the events, connection.cpp emits them,
// server.cpp emits the current state; the remaining files have no events.
//
//     ./http_server [--port PORT] [--requests COUNT]      # COUNT: exit after that many
//     ./http_server --client PORT TARGET...               # send requests over one connection
//
//     elog record -e http@info                            # what the server does
//     elog record -e http@warn                            # what goes wrong
//     elog record -e http/network                         # only connections
//     elog record -e 'http:*@trace' --session 2           # one connection to the last header
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "client.hpp"
#include "server.hpp"

int main(int argument_count, char** arguments) try {
    const std::vector<std::string> given(arguments + 1, arguments + argument_count);
    if (given.size() >= 2 && given[0] == "--client") {
        send_requests(static_cast<std::uint16_t>(std::stoul(given[1])),
                      {given.begin() + 2, given.end()});
        return EXIT_SUCCESS;
    }
    std::uint16_t port = 0;
    std::uint64_t requests_max = UINT64_MAX;
    for (std::size_t i = 0; i < given.size(); i += 2) {
        const bool known = given[i] == "--port" || given[i] == "--requests";
        if (!known || i + 1 == given.size()) {
            std::cerr
                << "http_server: see the beginning of http_server/main.cpp for its options.\n";
            return EXIT_FAILURE;
        }
        const std::uint64_t number = std::stoull(given[i + 1]);
        if (given[i] == "--port") {
            port = static_cast<std::uint16_t>(number);
        } else {
            requests_max = number;
        }
    }
    serve(port, requests_max);
} catch (const std::exception& error) {
    std::cerr << "http_server: " << error.what() << '\n';
    return EXIT_FAILURE;
}
