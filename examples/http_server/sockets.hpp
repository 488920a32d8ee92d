// SPDX-License-Identifier: MIT
//
// The little of TCP that is needed; nothing here is about events.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>

/// Owns a socket.
class descriptor {
  public:
    /// Throws std::runtime_error if that is none.
    explicit descriptor(int number);
    ~descriptor();
    descriptor(const descriptor&) = delete;
    descriptor& operator=(const descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

  private:
    int number_;
};

[[nodiscard]] sockaddr_in local_address(std::uint16_t port);

/// False if the other side has gone.
bool send_all(int socket, std::string_view text);

/// Adds what comes until the text has an end of headers. False if it never does.
bool receive_head(int socket, std::string& text);
