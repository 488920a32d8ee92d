// SPDX-License-Identifier: MIT
//
// What a provider has in addition if it was defined at run time.
//
// Emitting reads the definition without a lock, and a thread may be late: the provider has been
// withdrawn while it was on its way. So whoever reads is counted, and the memory is given back when
// nobody reads any more; until then the handle is not used again. The gate's pages stay mapped for
// ever, and are the gate of the next provider that is defined in this place.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <eventlog/abi.h>

#include "provider/definition.hpp"
#include "provider/registered_provider.hpp"
#include "ring/ring_transition.hpp"

namespace eventlog::core {

/// Several counters, so that threads on different CPUs do not wait for one line of the cache.
struct alignas(64) reader_count {
    std::atomic<std::uint32_t> readers{0};
};

struct runtime_definition {
    std::atomic<const built_definition*> definition{nullptr};
    std::array<reader_count, 16> counts{};

    // Under the registry's lock.
    const built_definition* memory = nullptr;  // of the definition, until it is given back
    std::uint32_t* gate = nullptr;
    std::size_t gate_size = 0;
};

/// While it lives, the definition that it found stays.
class definition_reader {
  public:
    explicit definition_reader(const eventlog_provider& provider) noexcept
        : part_(provider.dynamic.load(std::memory_order_acquire)) {
        if (part_ != nullptr) {
            // The number of the thread; all that have none yet share a counter.
            count_ = &part_->counts[known_thread_id % part_->counts.size()].readers;
            // Sequentially consistent, as in revoke_definition: either we see the definition gone,
            // or it sees us.
            count_->fetch_add(1, std::memory_order_seq_cst);
            definition_ = part_->definition.load(std::memory_order_seq_cst);
        }
    }
    ~definition_reader() {
        if (count_ != nullptr) {
            count_->fetch_sub(1, std::memory_order_release);
        }
    }
    definition_reader(const definition_reader&) = delete;
    definition_reader& operator=(const definition_reader&) = delete;

    /// NULL: the provider was not defined at run time, or is withdrawn.
    [[nodiscard]] const built_definition* definition() const noexcept { return definition_; }

  private:
    runtime_definition* part_;
    std::atomic<std::uint32_t>* count_ = nullptr;
    const built_definition* definition_ = nullptr;
};

// All under the registry's lock.

/// Gives a free provider its definition, and `complete` the gate to register it with. False: there
/// is no memory, and nothing has happened.
[[nodiscard]] bool install_definition(eventlog_provider& provider, const built_definition& built,
                                      eventlog_provider_definition& complete) noexcept;

/// Nobody finds the provider's definition any more.
void revoke_definition(eventlog_provider& provider) noexcept;

/// Gives back the memory of a closed definition. False if somebody still reads it.
[[nodiscard]] bool free_definition(eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
