// SPDX-License-Identifier: MIT
//
// Bursts of the same event by peers.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "answer.hpp"

namespace bench {

class peers {
  public:
    peers() = default;
    ~peers();
    peers(const peers&) = delete;
    peers& operator=(const peers&) = delete;

    /// Loads and starts a peer's shared object (peers/peer.h). Throws failure.
    void load(const std::string& name, const std::string& path, const std::string& argument);

    /// Emits one burst. Returns nanoseconds for each event. Throws failure.
    [[nodiscard]] answer emit_burst(const std::string& name);

    /// Ends a peer. Returns the number of events that it got, and of those lost. Throws failure.
    [[nodiscard]] answer end(const std::string& name);

  private:
    struct peer {
        void* object = nullptr;
        void (*burst)(std::uint64_t, const char*) = nullptr;
        void (*rest)() = nullptr;
        std::uint64_t (*end)() = nullptr;
        std::uint64_t emitted = 0;
    };
    peer& find(const std::string& name);

    std::map<std::string, peer> peers_;
};

}  // namespace bench
