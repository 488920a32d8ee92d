// SPDX-License-Identifier: MIT
//
// A small HTTP/1.1 server on 127.0.0.1, a thread for each connection, instrumented as one would do
// it for real: a session for each connection, a span for each request, a counter of what is open,
// and a dump that tells latecomers which connections there are.
//
//     ./http_server [--port PORT] [--requests COUNT]      # COUNT: serve so many, then exit
//     ./http_server --client PORT TARGET...               # ask it, over one connection
//
//     elog record -e http@info                            # what goes on
//     elog record -e http@warn                            # what goes wrong
//     elog record -e http/network                         # connections alone
//     elog record -e 'http:*@trace' --session 2           # one connection to the last header
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <iterator>
#include <list>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <eventlog/eventlog.hpp>

namespace {

constexpr eventlog::keyword network{0, "network"};
constexpr eventlog::keyword requests{1, "requests"};

struct connection_opened {
    eventlog::ipv4_address address;
    std::uint16_t port;
};
struct header_received {
    std::string_view name;
    std::string_view value;
};
struct request_refused {
    std::uint16_t status;
    std::string_view why;
};
// A span is of no session: it names the connection in a field of its own.
struct request_begin {
    std::uint64_t connection;
    std::string_view method;
    std::string_view target;
};
struct request_end {
    std::chrono::nanoseconds took;
    std::uint64_t connection;
    std::uint16_t status;
    std::uint64_t sent;
};
struct open_connections {
    std::int64_t connections;
};
using http = eventlog::provider<"http", connection_opened, header_received, request_refused,
                                request_begin, request_end, open_connections>;

}  // namespace

template <>
inline constexpr eventlog::provider_traits eventlog::provider_traits_of<http>{
    .description = "A small HTTP server", .keywords = {network, requests}, .dumps = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<connection_opened>{
    .keywords = network, .session_bound = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<header_received>{
    .level = eventlog::level::trace, .keywords = requests, .session_bound = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<request_refused>{
    .level = eventlog::level::warn,
    .keywords = requests,
    .meaning = "a request cannot be understood, and the connection is given up",
    .session_bound = true};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<request_begin>{
    .level = eventlog::level::verbose, .keywords = requests, .kind = eventlog::kind::begin};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<request_end>{
    .keywords = requests,
    .kind = eventlog::kind::end,
    .fields = {{.of = "sent", .format = eventlog::format::byte_size}}};
template <>
inline constexpr eventlog::event_traits eventlog::traits_of<open_connections>{
    .keywords = network, .kind = eventlog::kind::counter};

namespace {

class descriptor {
  public:
    explicit descriptor(int number) : number_(number) {
        if (number < 0) {
            throw std::runtime_error(std::string("no socket: ") + std::strerror(errno));
        }
    }
    ~descriptor() { ::close(number_); }
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

bool send_all(int socket, std::string_view text) {
    while (!text.empty()) {
        const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return false;
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
    return true;
}

/// Adds what comes until the text has an end of headers. False if it never does.
bool receive_head(int socket, std::string& text) {
    constexpr std::size_t head_max = 8192;
    while (text.find("\r\n\r\n") == std::string::npos) {
        char bytes[1024];
        const ssize_t size = ::recv(socket, bytes, sizeof bytes, 0);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size <= 0 || text.size() > head_max) {
            return false;
        }
        text.append(bytes, static_cast<std::size_t>(size));
    }
    return true;
}

/// Takes what stands in front of the mark, and the mark, off the text.
std::string_view take(std::string_view& text, std::string_view mark) {
    const auto end = std::min(text.find(mark), text.size());
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(std::min(end + mark.size(), text.size()));
    return taken;
}

constinit std::atomic<std::uint64_t> requests_served{0};
constinit eventlog::counter<http, open_connections> connections_open;

class connection {
  public:
    connection(int socket, std::uint64_t number, const sockaddr_in& peer)
        : socket_(socket), session_(number), peer_(peer) {
        tell();
        thread_ = std::jthread([this] { serve(); });
    }

    /// Present state, for those who begin to listen now.
    void announce() const {
        session_.announce();
        tell();
    }
    void hang_up() const { ::shutdown(socket_.number(), SHUT_RDWR); }
    [[nodiscard]] bool has_ended() const { return ended_; }

  private:
    void tell() const {
        session_.emit(connection_opened{eventlog::ipv4_address::from_network(peer_.sin_addr.s_addr),
                                        ntohs(peer_.sin_port)});
    }

    void serve() {
        connections_open.add(1);
        std::string received;
        while (receive_head(socket_.number(), received)) {
            const std::size_t size = received.find("\r\n\r\n") + 4;
            const bool again = answer(std::string_view(received).substr(0, size - 2));
            received.erase(0, size);
            requests_served.fetch_add(1);
            if (!again) {
                break;
            }
        }
        connections_open.add(-1);
        session_.end();
        hang_up();
        ended_ = true;
    }

    /// Returns whether the connection stays open.
    bool answer(std::string_view head) {
        std::string_view line = take(head, "\r\n");
        const std::string_view method = take(line, " ");
        const std::string_view target = take(line, " ");
        eventlog::span<http, request_begin, request_end> span(
            request_begin{session_.id(), method, target});
        request_end& end = span.result();
        end.connection = session_.id();
        bool stays = true;
        while (!head.empty()) {
            std::string_view value = take(head, "\r\n");
            const std::string_view name = take(value, ":");
            value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
            session_.emit(header_received{name, value});
            stays = stays && !(name == "Connection" && value == "close");
        }
        if (line != "HTTP/1.1" || method != "GET") {
            session_.emit(request_refused{501, "this server knows GET of HTTP/1.1 alone"});
            end.status = 501;
            end.sent = reply("501 Not Implemented", "GET only\n", false);
            return false;
        }
        const bool found = target == "/";
        end.status = found ? 200 : 404;
        end.sent = reply(found ? "200 OK" : "404 Not Found",
                         found ? "hello, whoever asks\n" : "there is / and nothing else\n", stays);
        return stays && end.sent != 0;
    }

    /// Returns how many bytes were sent.
    std::uint64_t reply(std::string_view status, std::string_view body, bool stays) const {
        std::string text = "HTTP/1.1 ";
        text.append(status).append("\r\nContent-Type: text/plain\r\nContent-Length: ");
        text.append(std::to_string(body.size())).append(stays ? "" : "\r\nConnection: close");
        text.append("\r\n\r\n").append(body);
        return send_all(socket_.number(), text) ? text.size() : 0;
    }

    descriptor socket_;
    eventlog::session<http> session_;
    sockaddr_in peer_;
    std::atomic<bool> ended_{false};
    std::jthread thread_;
};

// A dump runs in whichever thread emits next. Therefore nobody emits while he holds this mutex, or
// the dump would wait for its own thread.
std::mutex mutex;
std::list<connection> connections;

void tell_state() {
    const std::lock_guard lock(mutex);
    for (const connection& each : connections) {
        if (!each.has_ended()) {
            each.announce();
        }
    }
    connections_open.announce();
}

void accept_from(int listener, std::uint64_t number) {
    sockaddr_in peer{};
    socklen_t size = sizeof peer;
    const int socket = ::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC);
    if (socket < 0) {
        return;  // it has gone away already
    }
    std::list<connection> added;
    added.emplace_back(socket, number, peer);  // emits
    const std::lock_guard lock(mutex);
    connections.splice(connections.end(), added);
}

void forget_ended() {
    std::list<connection> ended;  // goes after the lock
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
    std::list<connection> last;  // goes after the lock
    const std::lock_guard lock(mutex);
    for (const connection& each : connections) {
        each.hang_up();
    }
    last.splice(last.end(), connections);
}

sockaddr_in local_address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

void serve(std::uint16_t port, std::uint64_t requests_max) {
    const descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(listener.number(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address = local_address(port);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener.number(), generic, size) != 0 || ::listen(listener.number(), 64) != 0 ||
        ::getsockname(listener.number(), generic, &size) != 0) {
        throw std::runtime_error(std::string("no port: ") + std::strerror(errno));
    }
    http::on_dump(tell_state);
    std::cout << "listening on http://127.0.0.1:" << ntohs(address.sin_port) << std::endl;
    std::uint64_t number = 0;
    while (requests_served < requests_max) {
        pollfd ready{listener.number(), POLLIN, 0};
        if (::poll(&ready, 1, 100) > 0) {
            accept_from(listener.number(), ++number);
        }
        forget_ended();
        http::poll();  // a server that nobody asks emits nothing, and would not run its dump
    }
    hang_up_all();
}

/// Prints the first line of each answer.
void ask(std::uint16_t port, const std::vector<std::string>& targets) {
    const descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = local_address(port);
    if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
        0) {
        throw std::runtime_error(std::string("nobody answers: ") + std::strerror(errno));
    }
    for (const std::string& target : targets) {
        std::string received;
        if (!send_all(socket.number(), "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n") ||
            !receive_head(socket.number(), received)) {
            throw std::runtime_error("the server hung up");
        }
        const std::size_t head = received.find("\r\n\r\n") + 4;
        const std::string_view mark = "Content-Length: ";
        const std::size_t body = std::stoul(received.substr(received.find(mark) + mark.size()));
        std::vector<char> rest(head + body - received.size());
        if (!rest.empty()) {
            ::recv(socket.number(), rest.data(), rest.size(), MSG_WAITALL);
        }
        std::cout << target << ' ' << received.substr(0, received.find('\r')) << '\n';
    }
}

}  // namespace

int main(int argument_count, char** arguments) try {
    const std::vector<std::string> given(arguments + 1, arguments + argument_count);
    if (given.size() >= 2 && given[0] == "--client") {
        ask(static_cast<std::uint16_t>(std::stoul(given[1])), {given.begin() + 2, given.end()});
        return EXIT_SUCCESS;
    }
    std::uint16_t port = 0;
    std::uint64_t requests_max = UINT64_MAX;
    for (std::size_t i = 0; i < given.size(); i += 2) {
        const bool known = given[i] == "--port" || given[i] == "--requests";
        if (!known || i + 1 == given.size()) {
            std::cerr << "http_server: see the beginning of http_server.cpp for its options.\n";
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
