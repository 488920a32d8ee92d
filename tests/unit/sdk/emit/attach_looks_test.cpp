// SPDX-License-Identifier: MIT
//
// Gate bits of a new subscription stay, whenever it is published during an attach.
#include "emit/attach_looks.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace {

using eventlog::core::attach_look;
using eventlog::core::attach_or_clear;
using eventlog::core::attach_outcome;

/// A slot with the bits of a subscription that has ended. Another one is published, then its bits
/// are set, before these steps of the attach.
class slot {
  public:
    slot(std::size_t published_before, std::size_t set_before)
        : published_before_(published_before), set_before_(set_before) {}

    attach_outcome attach() {
        const attach_outcome outcome = attach_or_clear(
            [this] {
                step();
                if (is_published_) {
                    new_bits_ = true;
                    return attach_look{attach_outcome::attached, true};
                }
                return attach_look{};
            },
            [this] {
                step();
                old_bits_ = false;
                new_bits_ = false;
            });
        step();
        return outcome;
    }
    [[nodiscard]] std::size_t steps() const { return steps_; }
    [[nodiscard]] bool has_new_bits() const { return new_bits_; }
    [[nodiscard]] bool has_old_bits() const { return old_bits_; }

  private:
    void step() {
        is_published_ = is_published_ || steps_ >= published_before_;
        new_bits_ = new_bits_ || steps_ == set_before_;
        ++steps_;
    }

    std::size_t published_before_;
    std::size_t set_before_;
    std::size_t steps_ = 0;
    bool is_published_ = false;
    bool old_bits_ = true;
    bool new_bits_ = false;
};

TEST(attach_looks, clear_bits_of_ended_subscription) {
    slot alone(100, 100);
    EXPECT_EQ(alone.attach(), attach_outcome::no_match);
    EXPECT_FALSE(alone.has_old_bits());
}

TEST(attach_looks, keep_bits_of_new_subscription) {
    for (std::size_t published = 0; published < 6; ++published) {
        for (std::size_t set = published; set < 6; ++set) {
            slot reused(published, set);
            static_cast<void>(reused.attach());
            // The consumer sets its bits after the attach, or they are there.
            EXPECT_TRUE(reused.has_new_bits() || set >= reused.steps())
                << "published before step " << published << ", bits set before step " << set;
        }
    }
}

TEST(attach_looks, clear_bits_that_a_look_has_set) {
    std::vector<attach_look> looks{{attach_outcome::no_match, false},
                                   {attach_outcome::no_match, true},
                                   {attach_outcome::no_match, false}};
    std::size_t at = 0;
    std::size_t cleared = 0;
    EXPECT_EQ(attach_or_clear([&] { return looks.at(at++); }, [&] { ++cleared; }),
              attach_outcome::no_match);
    EXPECT_EQ(at, looks.size());
    EXPECT_EQ(cleared, 2U);
}

/// Each look finds another subscription, sets its bits and then finds that it has ended.
TEST(attach_looks, end_although_subscriptions_come_and_go) {
    int looks = 0;
    int cleared = 0;
    const attach_outcome outcome = attach_or_clear(
        [&] {
            ++looks;
            return attach_look{attach_outcome::no_match, looks < 1000};
        },
        [&] { ++cleared; });
    EXPECT_EQ(outcome, attach_outcome::retry_later) << "the bits stay, and an emit tries again";
    EXPECT_EQ(looks, eventlog::core::attach_looks_max);
    EXPECT_EQ(cleared, looks - 1);
}

}  // namespace
