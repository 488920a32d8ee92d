// SPDX-License-Identifier: MIT
//
// A ring and both of its writers: write_record uses restartable sequences, or the lock where there
// are none; write_record_shared always uses the lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/record_header.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::test {

struct tick {
    std::uint64_t number;
};
using ring_test = eventlog::provider<"ring_test", tick>;

/// Ignores whether the writer or its caller increments the provider's counter.
inline core::write_result plain(core::write_result result) {
    return result == core::write_result::written_uncounted ? core::write_result::written : result;
}

/// The head of the records of a region's first provider, whose event numbers begin with 1.
inline constexpr std::uint64_t first_provider = core::provider_part(1);

struct ring_writer_param {
    const char* name;
    core::write_result (*write)(core::subscription_slot&, std::uint64_t, std::uint64_t,
                                const core::event_payload&) noexcept;
};

inline constexpr std::array<ring_writer_param, 2> ring_writers{
    {{"sequences", core::write_record}, {"lock", core::write_record_shared}}};

inline std::string ring_writer_name(const ::testing::TestParamInfo<ring_writer_param>& each) {
    return each.param.name;
}

inline core::subscription_slot* slot_of(event_listener& listener) {
    for (core::subscription_slot& each : core::subscription_slots) {
        if (each.serial.load() == listener.source().header().serial) {
            return &each;
        }
    }
    return nullptr;
}

class ring_fixture : public ::testing::TestWithParam<ring_writer_param> {
  protected:
    void start_listener(event_listener::options options) {
        listener = std::make_unique<event_listener>("ring_test:*", options);
        ring_test::emit(tick{0});  // attaches the provider
        listener->poll();
        listener->clear_records();
        slot = slot_of(*listener);
        ASSERT_NE(slot, nullptr);
        mapping = slot->mapping.load();
    }

    /// Whether the attaching event was written to the ring under test.
    [[nodiscard]] static bool contains_attaching_event() {
        return GetParam().write == core::write_record || !core::rseq_available();
    }
    /// The ring under test.
    [[nodiscard]] std::uint32_t written_ring() const {
        return contains_attaching_event() && core::rseq_available()
                   ? static_cast<std::uint32_t>(pinned.cpu())
                   : slot->ring_count.load() - 1;
    }

    const pinned_to_one_cpu pinned;
    std::unique_ptr<event_listener> listener;
    core::subscription_slot* slot = nullptr;
    std::uint64_t mapping = 0;
};

}  // namespace eventlog::test
