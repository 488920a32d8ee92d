// SPDX-License-Identifier: MIT
//
// Programs that the kernel rejects, with or without the permission to load programs: nothing is
// counted, and the error text states the reason. vm.pushed_aggregations tests programs that run.
#include "pushdown/bpf_aggregation.hpp"

#include <memory>
#include <optional>

#include <gtest/gtest.h>

#include "bpf/bpf_program.hpp"
#include "kernel/error.hpp"

namespace {

namespace tracefs = eventlog::tracefs;

tracefs::bpf_request asked(tracefs::bpf_program program) {
    tracefs::bpf_request made;
    made.program = [program = std::move(program)](const tracefs::bpf_maps&) {
        return program.finish();
    };
    return made;
}

TEST(bpf_aggregation, reports_verifier_rejection) {
    tracefs::bpf_program endless;
    const tracefs::bpf_program::label begin = endless.make_label();
    endless.place(begin);
    endless.jump(begin);
    EXPECT_THROW(tracefs::bpf_counter(1, asked(endless)), tracefs::error);
    EXPECT_THROW(tracefs::bpf_counter(1, asked({})), tracefs::error);
}

TEST(bpf_aggregation, skips_missing_event) {
    elog::kernel_trace_event event;
    event.format.id = 65535;
    const auto plan = std::make_shared<elog::bpf_plan>();
    elog::bpf_aggregation counting;
    EXPECT_NE(counting.begin(event, plan), "");
    counting.stop();
    std::optional<elog::user_error> mistake;
    EXPECT_TRUE(counting.take([](const auto&) { return std::uint16_t{0}; }, mistake).empty());
    EXPECT_FALSE(mistake);
}

TEST(bpf_aggregation, respects_memory_limit) {
    elog::kernel_trace_event event;
    const auto plan = std::make_shared<elog::bpf_plan>();
    plan->bytes = elog::bpf_bytes_max + 1;
    EXPECT_EQ(elog::bpf_aggregation().begin(event, plan),
              "the tables of BPF programs before it take all the memory that they may, 128 MiB");
}

}  // namespace
