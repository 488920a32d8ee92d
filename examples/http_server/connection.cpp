// SPDX-License-Identifier: MIT
#include "connection.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>

constinit std::atomic<std::uint64_t> requests_served{0};
constinit http::gauge<open_connections> connections_open;

namespace {

/// Removes the text up to and including the mark, and returns the part in front of it.
std::string_view split_off(std::string_view& text, std::string_view mark) {
    const auto end = std::min(text.find(mark), text.size());
    const std::string_view front = text.substr(0, end);
    text.remove_prefix(std::min(end + mark.size(), text.size()));
    return front;
}

}  // namespace

connection::connection(int socket, std::uint64_t number, const sockaddr_in& peer)
    : socket_(socket), session_(number), peer_(peer) {
    emit_opened();
    thread_ = std::jthread([this] { serve(); });
}

void connection::emit_current() const {
    session_.emit_current();
    emit_opened();
}

void connection::emit_opened() const {
    session_.emit(connection_opened{eventlog::ipv4_address::from_network(peer_.sin_addr.s_addr),
                                    ntohs(peer_.sin_port)});
}

void connection::hang_up() const {
    ::shutdown(socket_.number(), SHUT_RDWR);
}

void connection::serve() {
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

bool connection::answer(std::string_view head) {
    std::string_view line = split_off(head, "\r\n");
    request served{split_off(line, " "), split_off(line, " "), 0, 0};
    const auto scope = session_.time([&] { return served; });
    const bool stays = read_headers(head);
    if (line != "HTTP/1.1" || served.method != "GET") {
        session_.emit(request_refused{501, "this server supports only GET of HTTP/1.1"});
        served.status = 501;
        served.sent = reply("501 Not Implemented", "GET only\n", false);
        return false;
    }
    const bool found = served.target == "/";
    served.status = found ? 200 : 404;
    served.sent = reply(found ? "200 OK" : "404 Not Found",
                        found ? "hello\n" : "the only page is /\n", stays);
    return stays && served.sent != 0;
}

bool connection::read_headers(std::string_view head) const {
    bool stays = true;
    while (!head.empty()) {
        std::string_view value = split_off(head, "\r\n");
        const std::string_view name = split_off(value, ":");
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        session_.emit(header_received{name, value});
        stays = stays && !(name == "Connection" && value == "close");
    }
    return stays;
}

std::uint64_t connection::reply(std::string_view status, std::string_view body, bool stays) const {
    std::string text = "HTTP/1.1 ";
    text.append(status).append("\r\nContent-Type: text/plain\r\nContent-Length: ");
    text.append(std::to_string(body.size())).append(stays ? "" : "\r\nConnection: close");
    text.append("\r\n\r\n").append(body);
    return send_all(socket_.number(), text) ? text.size() : 0;
}
