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

#include "kernel_trace_sample.hpp"

namespace eventlog::test {

struct trace_dat_options {
    int version = 7;
    bool compressed = true;  // of version 7
    std::string clock = "mono";
    std::optional<std::uint64_t> realtime{};  // microseconds ahead of the clock: --date
    std::string time_offset{};                // as in the file; empty: none
    bool has_host_clock = false;
    std::uint32_t name_option_hops = 1;  // that lead to the names of threads
    std::size_t unknown_option_size = 0;     // bytes of each of two of version 7 that nobody knows
};

/// Bytes as zstd compresses them.
[[nodiscard]] std::vector<std::uint8_t> zstd_frame(std::span<const std::uint8_t> content);

class trace_dat_builder {
  public:
    using bytes = std::vector<std::uint8_t>;

    explicit trace_dat_builder(std::vector<system_format> formats, trace_dat_options options = {});

    /// What comes is of an instance of the kernel's tracing; of version 7.
    void instance(std::string name, std::string clock);
    /// The next page of a CPU, in front of whose first event so many are missing.
    void page(std::uint32_t cpu, std::uint64_t missed = 0);
    /// How many it is, the page does not say.
    static constexpr std::uint64_t some = UINT64_MAX;
    /// An event in the last page of the CPU, of at most 112 bytes and 100 ms behind the one before.
    void event(std::uint32_t cpu, std::uint64_t time, std::span<const std::uint8_t> record);
    /// An entry of that page, word by word, whatever it is.
    void entry(std::uint32_t cpu, const std::vector<std::uint32_t>& words);
    /// What the kernel has counted as overwritten on the CPU.
    void counted(std::uint32_t cpu, std::uint64_t overwritten);
    void name(std::uint32_t thread, std::string_view name);

    [[nodiscard]] bytes file() const;

    static constexpr std::uint32_t page_size = 4096;
    static constexpr std::uint32_t cpus = 2;

  private:
    struct page_state {
        byte_builder content;  // behind its head
        std::uint64_t begin = 0;
        std::uint64_t time = 0;
        std::uint64_t missed = 0;
        bool has_events = false;
    };

    struct buffer_state {
        std::string name;
        std::string clock;
        std::map<std::uint32_t, std::vector<page_state>> pages{};  // by CPU
    };

    [[nodiscard]] static bytes pages_of(const buffer_state& buffer, std::uint32_t cpu);
    /// Writes its pages, and returns the option that says where they are.
    [[nodiscard]] bytes add_buffer(byte_builder& file, const buffer_state& buffer) const;
    [[nodiscard]] std::uint64_t add_more_options(byte_builder& file, std::span<const bytes> buffers,
                                                 std::uint64_t next) const;
    [[nodiscard]] std::string names() const;
    void add_options(byte_builder& to) const;
    [[nodiscard]] bytes file_6() const;
    [[nodiscard]] bytes file_7() const;

    std::vector<system_format> formats_;
    trace_dat_options options_;
    std::vector<buffer_state> buffers_;
    std::map<std::uint32_t, std::uint64_t> counted_;
    std::map<std::uint32_t, std::string> names_;
};

}  // namespace eventlog::test
