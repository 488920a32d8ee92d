// SPDX-License-Identifier: MIT
//
// The additional state of a provider defined at run time.
//
// Emitting reads the definition without a lock, and a late thread may read it after the provider
// was withdrawn. So readers are counted: the memory is freed and the handle reused only when there
// are none. The gate's pages stay mapped for ever and serve the next provider with this handle.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <eventlog/abi.h>

#include "platform/thread_count.hpp"
#include "provider/definition.hpp"
#include "provider/registered_provider.hpp"

namespace eventlog::core {

struct runtime_definition {
    std::atomic<const built_definition*> definition{nullptr};
    thread_count readers;

    // Under the registry lock.
    const built_definition* memory = nullptr;  // of the definition until it is freed
    std::uint32_t* gate = nullptr;
    std::size_t gate_size = 0;
};

/// While it lives, the definition is not freed.
class definition_reader {
  public:
    explicit definition_reader(const eventlog_provider& provider) noexcept {
        if (runtime_definition* part = provider.dynamic.load(std::memory_order_acquire);
            part != nullptr) {
            // Pairs with revoke_definition: either this thread sees the cleared definition, or
            // free_definition sees this reader.
            user_.emplace(part->readers);
            definition_ = part->definition.load(std::memory_order_seq_cst);
        }
    }

    /// nullptr: the provider was not defined at run time, or was withdrawn.
    [[nodiscard]] const built_definition* definition() const noexcept { return definition_; }

  private:
    std::optional<thread_count::user> user_;
    const built_definition* definition_ = nullptr;
};

// All functions below require the registry lock.

/// Sets the definition of an unused provider, and the gate in `complete`. False without effect if
/// there is no memory.
[[nodiscard]] bool install_definition(eventlog_provider& provider, const built_definition& built,
                                      eventlog_raw_provider& complete) noexcept;

/// Hides the definition from new readers.
void revoke_definition(eventlog_provider& provider) noexcept;

/// Called in a forked child, where the readers of other threads do not exist.
void forget_other_readers(eventlog_provider& provider) noexcept;

/// Frees the memory of a revoked definition. False if it still has readers.
[[nodiscard]] bool free_definition(eventlog_provider& provider) noexcept;

}  // namespace eventlog::core
