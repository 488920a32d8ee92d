// SPDX-License-Identifier: MIT
#include "peer_bursts.hpp"

#include <dlfcn.h>

#include <chrono>

#include "burst.hpp"
#include "events.hpp"
#include "failure.hpp"
#include "own_bursts.hpp"

namespace bench {
namespace {

using std::chrono::steady_clock;

template <class Function>
Function symbol(void* object, const char* name) {
    void* found = ::dlsym(object, name);
    if (found == nullptr) {
        throw failure("A peer has no {}.", name);
    }
    return reinterpret_cast<Function>(found);
}

}  // namespace

peers::~peers() {
    for (const auto& [name, each] : peers_) {
        static_cast<void>(each.end());
    }
}

void peers::load(const std::string& name, const std::string& path, const std::string& argument) {
    // Never unloaded: the peer may have running threads in it.
    void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (object == nullptr) {
        throw failure("{} cannot be loaded: {}", name, ::dlerror());
    }
    const peer loaded{object, symbol<void (*)(std::uint64_t, const char*)>(object, "peer_burst"),
                      symbol<void (*)()>(object, "peer_rest"),
                      symbol<std::uint64_t (*)()>(object, "peer_end"), 0};
    const char* why_not =
        symbol<const char* (*)(const char*)>(object, "peer_begin")(argument.c_str());
    if (why_not != nullptr) {
        throw failure("{}", why_not);
    }
    peers_.emplace(name, loaded);
}

answer peers::emit_burst(const std::string& name) {
    peer& chosen = find(name);
    const std::string reason(opaque_reason());
    const stay_on_cpu here(usable_cpus().back());
    compute_for(pause);
    const steady_clock::time_point begin = steady_clock::now();
    chosen.burst(burst, reason.c_str());
    const std::chrono::duration<double, std::nano> took = steady_clock::now() - begin;
    chosen.emitted += burst;
    chosen.rest();
    return {took.count() / static_cast<double>(burst)};
}

answer peers::end(const std::string& name) {
    const peer ended = find(name);
    peers_.erase(name);
    return {static_cast<double>(ended.emitted), static_cast<double>(ended.end())};
}

peers::peer& peers::find(const std::string& name) {
    const auto found = peers_.find(name);
    if (found == peers_.end()) {
        throw failure("No peer '{}' is loaded.", name);
    }
    return found->second;
}

}  // namespace bench
