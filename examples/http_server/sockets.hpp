// SPDX-License-Identifier: MIT
//
// The TCP functions of the example, without events.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>

/// Owns a socket.
class descriptor {
  public:
    /// Throws std::runtime_error if the number is negative.
    explicit descriptor(int number);
    ~descriptor();
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

[[nodiscard]] sockaddr_in local_address(std::uint16_t port);

/// Returns false if the peer has closed the connection.
bool send_all(int socket, std::string_view text);

/// Appends received bytes until the text has an end of headers. Returns false if the connection
/// ends before, or the headers are too long.
bool receive_head(int socket, std::string& text);
