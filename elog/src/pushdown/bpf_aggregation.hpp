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
    /// From here on the event is counted, which must stay where it is. Returns why not, as a
    /// sentence without its end; empty: it is.
    [[nodiscard]] std::string begin(const kernel_trace_event& event,
                                    const std::shared_ptr<const bpf_plan>& plan);

    /// Nothing is counted any more when it returns.
    void stop() noexcept;

    using find_provider = std::function<std::uint16_t(const kernel_trace_event&)>;
    /// After stop(): what has been counted, of events that have come. Of those that cannot be read,
    /// the first says why, unless there is a reason already.
    [[nodiscard]] std::vector<bpf_results> take(const find_provider& provider_of,
                                                std::optional<user_error>& mistake) const;

  private:
    struct counted {
        const kernel_trace_event* event = nullptr;
        std::shared_ptr<const bpf_plan> plan;
        eventlog::tracefs::bpf_counter counter;
    };

    std::vector<counted> all_;
    std::uint64_t bytes_ = 0;  // that all of them take
};

}  // namespace elog
