// SPDX-License-Identifier: MIT
#include "sockets.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

descriptor::descriptor(int number) : number_(number) {
    if (number < 0) {
        throw std::runtime_error(std::string("cannot create a socket: ") + std::strerror(errno));
    }
}

descriptor::~descriptor() {
    ::close(number_);
}

sockaddr_in local_address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

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
