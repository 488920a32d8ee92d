// SPDX-License-Identifier: MIT
//
// A connection is a session, and its events have the session's number.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstdint>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

#include "events.hpp"
#include "sockets.hpp"

extern constinit std::atomic<std::uint64_t> requests_served;
extern constinit http::gauge<open_connections> connections_open;

class connection {
  public:
    /// Owns the socket, and serves its requests in a thread of its own.
    connection(int socket, std::uint64_t number, const sockaddr_in& peer);

    /// Emits the current state for a new listener.
    void emit_current() const;
    void hang_up() const;
    [[nodiscard]] bool has_ended() const { return ended_; }

  private:
    void emit_opened() const;
    void serve();
    /// Returns whether the connection stays open.
    bool answer(std::string_view head);
    /// Returns whether the client wants it to stay open.
    bool read_headers(std::string_view head) const;
    /// Returns the number of bytes sent.
    std::uint64_t reply(std::string_view status, std::string_view body, bool stays) const;

    descriptor socket_;
    eventlog::session<http> session_;
    sockaddr_in peer_;
    std::atomic<bool> ended_{false};
    std::jthread thread_;
};
