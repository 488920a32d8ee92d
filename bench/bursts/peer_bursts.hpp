// SPDX-License-Identifier: MIT
//
// Bursts of the same event by others.
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

    /// Loads a peer's shared object (peers/peer.h) and begins. Throws failure.
    void load(const std::string& name, const std::string& path, const std::string& argument);

    /// One burst; answers with nanoseconds for each event. Throws failure.
    [[nodiscard]] answer emit_burst(const std::string& name);

    /// Ends a peer; answers with the number of events that it was handed, and that it has lost.
    /// Throws failure.
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
