// SPDX-License-Identifier: MIT
//
// The additional state of a provider defined at run time.
//
// Emitting reads the definition without a lock, and a late thread may read it after the provider
// was withdrawn. So readers are counted: the memory is freed and the handle reused only when there
// are none. The gate's pages stay mapped for ever and serve the next provider with this handle.
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

/// One of several counters, so that threads on different CPUs do not share a cache line.
struct alignas(64) reader_count {
    std::atomic<std::uint32_t> readers{0};
};

struct runtime_definition {
    std::atomic<const built_definition*> definition{nullptr};
    std::array<reader_count, 16> counts{};

    // Under the registry lock.
    const built_definition* memory = nullptr;  // of the definition until it is freed
    std::uint32_t* gate = nullptr;
    std::size_t gate_size = 0;
};

/// While it lives, the definition is not freed.
class definition_reader {
  public:
    explicit definition_reader(const eventlog_provider& provider) noexcept
        : part_(provider.dynamic.load(std::memory_order_acquire)) {
        if (part_ != nullptr) {
            // Selected by thread id; threads without a known id share a counter.
            count_ = &part_->counts[known_thread_id % part_->counts.size()].readers;
            // Sequentially consistent, pairs with revoke_definition: either this thread sees the
            // cleared definition, or free_definition sees this reader.
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

    /// nullptr: the provider was not defined at run time, or was withdrawn.
    [[nodiscard]] const built_definition* definition() const noexcept { return definition_; }

  private:
    runtime_definition* part_;
    std::atomic<std::uint32_t>* count_ = nullptr;
    const built_definition* definition_ = nullptr;
};

// All functions below require the registry lock.

/// Sets the definition of an unused provider, and the gate in `complete`. False without effect if
/// there is no memory.
[[nodiscard]] bool install_definition(eventlog_provider& provider, const built_definition& built,
                                      eventlog_provider_definition& complete) noexcept;

/// Hides the definition from new readers.
void revoke_definition(eventlog_provider& provider) noexcept;

/// Frees the memory of a revoked definition. False if it still has readers.
[[nodiscard]] bool free_definition(eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
