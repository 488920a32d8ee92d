// SPDX-License-Identifier: MIT
//
// Several sources merged into one, in the order of time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <elog/source.hpp>

#include "source_state.hpp"

namespace elog::library {

class merged_source final : public source_state {
  public:
    explicit merged_source(std::vector<source> parts);

    [[nodiscard]] std::optional<record> next() override;
    void wait(std::chrono::nanoseconds at_most) override;
    [[nodiscard]] bool is_over() const noexcept override;
    void stop() noexcept override;
    std::chrono::nanoseconds prefetch() override;
    [[nodiscard]] std::chrono::steady_clock::time_point due() override;
    [[nodiscard]] timestamp watermark() const noexcept override;
    [[nodiscard]] const event_info* find(std::uint64_t origin, std::uint32_t provider,
                                         std::uint16_t event) const noexcept override;
    [[nodiscard]] std::vector<event> events() const override;
    [[nodiscard]] source_totals totals() const noexcept override;
    [[nodiscard]] std::vector<std::string> complaints() const override;

  private:
    struct part {
        source from;
        std::optional<record> head{};  // the next record
    };

    /// Whether a part without a record may still deliver an earlier one.
    [[nodiscard]] bool may_precede(const part& other, timestamp time) const noexcept;

    std::vector<part> parts_;
    std::optional<std::size_t> current_part_;  // whose head the caller uses
};

}  // namespace elog::library
