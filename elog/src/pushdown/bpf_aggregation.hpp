// SPDX-License-Identifier: MIT
//
// The BPF programs of a recording, each of which counts one event.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/user_error.hpp"
#include "bpf/bpf_counter.hpp"
#include "pushdown/bpf_plan.hpp"
#include "pushdown/bpf_results.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

class bpf_aggregation {
  public:
    /// Counts the event from here on; `event` must outlive this object. Returns the reason if that
    /// fails, as a sentence without its end; empty: success.
    [[nodiscard]] std::string begin(const kernel_trace_event& event,
                                    const std::shared_ptr<const bpf_plan>& plan);

    /// Stops counting. No program runs any more when it returns.
    void stop() noexcept;

    using find_provider = std::function<std::uint32_t(const kernel_trace_event&)>;
    /// After stop(): the results of events that have occurred. The first error is kept in
    /// `mistake`, unless there is one already.
    [[nodiscard]] std::vector<bpf_results> take(const find_provider& provider_of,
                                                std::optional<user_error>& mistake) const;

  private:
    struct counted {
        const kernel_trace_event* event = nullptr;
        std::shared_ptr<const bpf_plan> plan;
        eventlog::tracefs::bpf_counter counter;
    };

    std::vector<counted> all_;
    std::uint64_t bytes_ = 0;  // of all tables
};

}  // namespace elog
