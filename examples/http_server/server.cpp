// SPDX-License-Identifier: MIT
#include "server.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>

#include "connection.hpp"
#include "events.hpp"
#include "sockets.hpp"

namespace {

// emit_state runs in the thread that emits next. So no thread emits while it holds this mutex;
// otherwise emit_state would deadlock.
std::mutex mutex;
std::list<connection> connections;

void emit_state() {
    const std::lock_guard lock(mutex);
    for (const connection& each : connections) {
        if (!each.has_ended()) {
            each.emit_current();
        }
    }
    connections_open.emit_current();
}

void accept_from(int listener, std::uint64_t number) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const int socket = ::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
    if (socket < 0) {
        return;  // the client has closed it already
    }
    std::list<connection> added;
    added.emplace_back(socket, number, peer);  // emits
    const std::lock_guard lock(mutex);
    connections.splice(connections.end(), added);
}

void forget_ended() {
    std::list<connection> ended;  // destroyed after the lock is released
    const std::lock_guard lock(mutex);
    for (auto at = connections.begin(); at != connections.end();) {
        const auto next = std::next(at);
        if (at->has_ended()) {
            ended.splice(ended.end(), connections, at);
        }
        at = next;
    }
}

void hang_up_all() {
    std::list<connection> last;  // destroyed after the lock is released
    const std::lock_guard lock(mutex);
    for (const connection& each : connections) {
        each.hang_up();
    }
    last.splice(last.end(), connections);
}

}  // namespace

void serve(std::uint16_t port, std::uint64_t requests_max) {
    const descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = local_address(port);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener.number(), generic, size) != 0 || ::listen(listener.number(), 64) != 0 ||
        ::getsockname(listener.number(), generic, &size) != 0) {
        throw std::runtime_error(std::string("cannot listen: ") + std::strerror(errno));
    }
    http::on_new_listener(emit_state);
    std::cout << "listening on http://127.0.0.1:" << ntohs(address.sin_port) << std::endl;
    std::uint64_t number = 0;
    while (requests_served < requests_max) {
        pollfd ready{listener.number(), POLLIN, 0};
        if (::poll(&ready, 1, 100) > 0) {
            accept_from(listener.number(), ++number);
        }
        forget_ended();
        http::run_callbacks();  // without requests nothing is emitted, and emit_state would not run
    }
    hang_up_all();
}
