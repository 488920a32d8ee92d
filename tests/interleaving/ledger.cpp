// SPDX-License-Identifier: MIT
#include "ledger.hpp"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "emitter.hpp"

namespace eventlog::test {

void ledger::expect(std::uint64_t number, pid_t thread) {
    expected_.push_back({number, static_cast<std::uint32_t>(thread)});
}

void ledger::check_place(listener& ears, const heard_record& record) {
    EXPECT_NE(record.ring, ears.reader().shared_ring()) << "a thread gave up its CPU's ring";
    EXPECT_EQ(record.ring, record.header.cpu);
    ring_end& end = rings_[record.ring];
    // Another clock is read before the sequence: a thread that is interrupted in between is late.
    if (ears.source().header().clock == EVENTLOG_CLOCK_TSC) {
        EXPECT_GE(record.header.time, end.time) << "time went backwards";
    }
    EXPECT_EQ(record.sequence, end.attempted + record.lost_before) << "miscounted in its ring";
    end = {record.header.time, record.sequence + 1};
}

void ledger::read(listener& ears) {
    ears.poll();
    for (const heard_record& record : ears.records()) {
        check_place(ears, record);
        if (!ears.providers().contains(record.header.provider)) {
            ADD_FAILURE() << "a record names a provider that is not there";
            continue;
        }
        if (const std::optional<std::uint64_t> number = number_in(ears, record)) {
            heard_.push_back({*number, record.header.thread, record.ring});
        }
    }
    ears.forget_records();
}

void ledger::settle(std::uint64_t lost) {
    EXPECT_EQ(heard_.size() + lost, expected_.size()) << lost << " were counted as lost";
    // Each ring's events are among the expected ones, in their order: so none came twice.
    std::map<std::uint32_t, std::size_t> next;
    std::vector<bool> met(expected_.size());
    for (const heard_event& heard : heard_) {
        std::size_t& place = next[heard.ring];
        while (place < expected_.size() && expected_[place].number != heard.number) {
            ++place;
        }
        if (place == expected_.size()) {
            ADD_FAILURE() << "event " << std::hex << heard.number
                          << " was not attempted, came twice, or came late";
            break;
        }
        EXPECT_FALSE(met[place]) << "event " << std::hex << heard.number << " came twice";
        EXPECT_EQ(heard.thread, expected_[place].thread) << "another thread's name";
        met[place] = true;
    }
    expected_.clear();
    heard_.clear();
}

}  // namespace eventlog::test
