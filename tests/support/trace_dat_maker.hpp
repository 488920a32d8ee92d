// SPDX-License-Identifier: MIT
//
// trace.dat made by hand, of version 6 or 7.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traced_sample.hpp"

namespace eventlog::test {

struct trace_dat_options {
    int version = 7;
    bool compressed = true;  // of version 7
    std::string clock = "mono";
    std::optional<std::uint64_t> realtime{};  // microseconds ahead of the clock: --date
};

class trace_dat_maker {
  public:
    using bytes = std::vector<std::uint8_t>;

    explicit trace_dat_maker(std::vector<system_format> formats, trace_dat_options options = {});

    /// The next page of a CPU, in front of whose first event so many are missing.
    void page(std::uint32_t cpu, std::uint64_t missed = 0);
    /// An event in the last page of the CPU, of at most 112 bytes and 100 ms behind the one before.
    void event(std::uint32_t cpu, std::uint64_t time, std::span<const std::uint8_t> record);
    /// What the kernel has counted as overwritten on the CPU.
    void counted(std::uint32_t cpu, std::uint64_t overwritten);
    void name(std::uint32_t thread, std::string_view name);

    [[nodiscard]] bytes file() const;

    static constexpr std::uint32_t page_size = 4096;
    static constexpr std::uint32_t cpus = 2;

  private:
    struct page_state {
        byte_maker content;  // behind its head
        std::uint64_t begin = 0;
        std::uint64_t time = 0;
        std::uint64_t missed = 0;
        bool has_events = false;
    };

    [[nodiscard]] bytes pages_of(std::uint32_t cpu) const;
    [[nodiscard]] std::string names() const;
    void add_options(byte_maker& to) const;
    [[nodiscard]] bytes file_6() const;
    [[nodiscard]] bytes file_7() const;

    std::vector<system_format> formats_;
    trace_dat_options options_;
    std::map<std::uint32_t, std::vector<page_state>> pages_;
    std::map<std::uint32_t, std::uint64_t> counted_;
    std::map<std::uint32_t, std::string> names_;
};

}  // namespace eventlog::test
