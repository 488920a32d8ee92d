// SPDX-License-Identifier: MIT
#include "record/recording_mark.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

using elog::mark_kind;
using elog::recording_mark;
using marks = std::vector<recording_mark>;

marks taken(elog::pending_marks& from, std::uint64_t time) {
    marks found;
    from.take_until(time, [&](const recording_mark& mark) { found.push_back(mark); });
    return found;
}

constexpr recording_mark first{10, 1, mark_kind::pause};
constexpr recording_mark second{20, 1, mark_kind::resume};
constexpr recording_mark third{20, 2, mark_kind::pause};
constexpr recording_mark fourth{20, 2, mark_kind::resume};

TEST(pending_marks, are_taken_in_order_and_once) {
    elog::pending_marks pending;
    for (const recording_mark& mark : {fourth, second, first, third, second}) {
        pending.add(mark);
    }
    EXPECT_EQ(taken(pending, 9), marks{});
    EXPECT_EQ(taken(pending, 10), marks{first});
    EXPECT_EQ(taken(pending, 19), marks{});
    EXPECT_EQ(taken(pending, UINT64_MAX), (marks{second, third, fourth}));
    EXPECT_EQ(taken(pending, UINT64_MAX), marks{});
}

TEST(pending_marks, that_are_late_come_next) {
    elog::pending_marks pending;
    pending.add(first);
    pending.add(fourth);
    EXPECT_EQ(taken(pending, 15), marks{first});
    pending.add(second);
    EXPECT_EQ(taken(pending, 15), marks{});
    EXPECT_EQ(taken(pending, 20), (marks{second, fourth}));
    pending.add(first);
    EXPECT_EQ(taken(pending, 20), marks{first});
}

}  // namespace
