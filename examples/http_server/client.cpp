// SPDX-License-Identifier: MIT
#include "client.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string_view>

#include "sockets.hpp"

void send_requests(std::uint16_t port, const std::vector<std::string>& targets) {
    const descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = local_address(port);
    if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
        0) {
        throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
    }
    for (const std::string& target : targets) {
        std::string received;
        if (!send_all(socket.number(), "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n") ||
            !receive_head(socket.number(), received)) {
            throw std::runtime_error("the server closed the connection");
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
