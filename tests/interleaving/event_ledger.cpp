// SPDX-License-Identifier: MIT
#include "event_ledger.hpp"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "emitter.hpp"

namespace eventlog::test {

void event_ledger::expect(std::uint64_t number, pid_t thread) {
    expected_.push_back({number, static_cast<std::uint32_t>(thread)});
}

void event_ledger::check_ring_position(event_listener& listener, const received_record& record) {
    EXPECT_NE(record.ring, listener.reader().shared_ring()) << "a thread gave up its CPU's ring";
    EXPECT_EQ(record.ring, record.header.cpu);
    last_position& end = rings_[record.ring];
    EXPECT_GE(record.header.time, end.time) << "time went backwards";
    EXPECT_EQ(record.sequence, end.attempted + record.lost_before) << "miscounted in its ring";
    end = {record.header.time, record.sequence + 1};
}

void event_ledger::read(event_listener& listener) {
    listener.poll();
    for (const received_record& record : listener.records()) {
        check_ring_position(listener, record);
        if (!listener.providers().contains(record.header.provider)) {
            ADD_FAILURE() << "a record names an unknown provider";
            continue;
        }
        if (const std::optional<std::uint64_t> number = number_in(listener, record)) {
            received_.push_back({*number, record.header.thread, record.ring});
        }
    }
    listener.clear_records();
}

void event_ledger::expect_all_accounted(std::uint64_t lost) {
    EXPECT_EQ(received_.size() + lost, expected_.size()) << lost << " were counted as lost";
    // Each ring has a subsequence of the expected events, so that none is recorded twice.
    std::map<std::uint32_t, std::size_t> next;
    std::vector<bool> met(expected_.size());
    for (const received_event& record : received_) {
        std::size_t& place = next[record.ring];
        while (place < expected_.size() && expected_[place].number != record.number) {
            ++place;
        }
        if (place == expected_.size()) {
            ADD_FAILURE() << "event " << std::hex << record.number
                          << " was not attempted, is recorded twice, or too late";
            break;
        }
        EXPECT_FALSE(met[place]) << "event " << std::hex << record.number << " is recorded twice";
        EXPECT_EQ(record.thread, expected_[place].thread) << "another thread's name";
        met[place] = true;
    }
    expected_.clear();
    received_.clear();
}

}  // namespace eventlog::test
