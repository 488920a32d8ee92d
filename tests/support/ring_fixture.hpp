// SPDX-License-Identifier: MIT
//
// A ring, and both ways to write to it: with restartable sequences, which takes the lock where
// there are none, and with the lock always.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/ring_writer.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"

namespace eventlog::test {

struct tick {
    std::uint64_t number;
};
using ring_test = eventlog::provider<"ring_test", tick>;

/// Who counts what was written is no matter of the ring.
inline core::write_result plain(core::write_result result) {
    return result == core::write_result::written_uncounted ? core::write_result::written : result;
}

struct writer_case {
    const char* name;
    core::write_result (*write)(core::subscription_slot&, std::uint64_t, std::uint16_t,
                                const core::event_payload&) noexcept;
};

inline constexpr std::array<writer_case, 2> ring_writers{
    {{"sequences", core::write_record}, {"lock", core::write_record_shared}}};

inline std::string name_of_writer(const ::testing::TestParamInfo<writer_case>& each) {
    return each.param.name;
}

inline core::subscription_slot* slot_of(listener& ears) {
    for (core::subscription_slot& each : core::subscription_slots) {
        if (each.serial.load() == ears.source().header().serial) {
            return &each;
        }
    }
    return nullptr;
}

class ring_fixture : public ::testing::TestWithParam<writer_case> {
  protected:
    void listen(listener::options options) {
        ears = std::make_unique<listener>("ring_test:*", options);
        ring_test::emit(tick{0});  // attaches the provider
        ears->poll();
        ears->forget_records();
        slot = slot_of(*ears);
        ASSERT_NE(slot, nullptr);
        serial = slot->serial.load();
    }

    /// Whether the event that attached the provider stands in the ring that is written to.
    [[nodiscard]] static bool has_attaching_event() {
        return GetParam().write == core::write_record || !core::rseq_available();
    }

    const pinned_to_one_cpu pinned;
    std::unique_ptr<listener> ears;
    core::subscription_slot* slot = nullptr;
    std::uint64_t serial = 0;
};

}  // namespace eventlog::test
