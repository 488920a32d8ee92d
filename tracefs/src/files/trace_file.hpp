// SPDX-License-Identifier: MIT
//
// Reads the parts of trace.dat beside its pages: events, machine, and the location of each CPU's
// pages. The formats are those of trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/recorded_file.hpp"
#include "files/tracing_data.hpp"
#include "files/zstd_stream.hpp"

namespace eventlog::tracefs {

/// Location of the pages of a CPU.
struct trace_cpu {
    std::uint32_t cpu = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// A buffer of the recording: an instance, or the top buffer, whose name is empty.
struct trace_buffer {
    std::string name;
    std::string clock;  // as in the file trace_clock
    std::uint32_t page_size = 0;
    bool is_compressed = false;
    std::vector<trace_cpu> cpus{};
    std::map<std::uint32_t, std::uint64_t> lost{};  // losses by CPU, as counted by the kernel
};

class trace_file {
  public:
    /// The file must outlive it. Throws error if it is not of trace-cmd, has an unsupported form,
    /// or lacks data that is needed to interpret its pages.
    explicit trace_file(const recorded_file& file);

    [[nodiscard]] const std::vector<recorded_format>& formats() const noexcept { return formats_; }
    [[nodiscard]] const std::vector<trace_buffer>& buffers() const noexcept { return buffers_; }
    /// Names of threads by number.
    [[nodiscard]] const std::map<std::uint32_t, std::string>& names() const noexcept {
        return names_;
    }
    /// CLOCK_REALTIME minus the times in the file, nanoseconds; nothing if unknown.
    [[nodiscard]] std::optional<std::int64_t> realtime() const noexcept { return realtime_; }
    /// Nanoseconds to be added to each time.
    [[nodiscard]] std::int64_t time_offset() const noexcept { return time_offset_; }
    /// Whether it contains offsets between the clocks of guest and host (--tsync).
    [[nodiscard]] bool has_host_clock() const noexcept { return has_host_clock_; }
    [[nodiscard]] const recorded_machine& machine() const noexcept { return machine_; }
    /// Instances whose data is skipped: version 6 stores it in another form.
    [[nodiscard]] const std::vector<std::string>& skipped_instances() const noexcept {
        return skipped_instances_;
    }

  private:
    struct section_head;

    void parse_version_6(std::uint32_t page_size);
    void parse_version_7(std::uint64_t at);
    [[nodiscard]] std::uint64_t parse_options(std::uint64_t at);
    void parse_option(std::uint16_t id, std::span<const std::uint8_t> content);
    void parse_section(std::uint16_t id, std::uint64_t at);
    void parse_buffer(byte_reader from);
    void parse_pages_of_version_6(byte_reader& from, std::uint32_t page_size, std::uint32_t cpus);
    void parse_counts(std::string_view text);
    void parse_names(std::string_view text);
    void parse_host(std::string_view text);
    void assign_counts();
    void check_pages() const;
    void count_section(std::uint64_t bytes);
    [[nodiscard]] std::vector<std::uint8_t> section(std::uint16_t id, std::uint64_t at);

    const recorded_file& file_;
    bool is_version_6_ = false;
    bool is_compressed_ = false;
    zstd_stream stream_;
    std::uint32_t sections_ = 0;       // sections read so far
    std::uint64_t section_bytes_ = 0;  // their bytes, compressed and decompressed
    std::string clock_;                // version 6: of all buffers
    std::string counted_buffer_;       // buffer to which the next counts belong
    std::map<std::string, std::map<std::uint32_t, std::uint64_t>> counts_;
    std::vector<recorded_format> formats_;
    std::vector<trace_buffer> buffers_;
    std::map<std::uint32_t, std::string> names_;
    std::optional<std::int64_t> realtime_;
    std::int64_t time_offset_ = 0;
    bool has_host_clock_ = false;
    recorded_machine machine_;
    std::vector<std::string> skipped_instances_;
};

}  // namespace eventlog::tracefs
