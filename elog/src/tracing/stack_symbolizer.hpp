// SPDX-License-Identifier: MIT
//
// Where a program was, as one text: "main;serve;handle", the outermost function first, as tools for
// flame graphs take it. Without names, LIBRARY+0xOFFSET or 0xADDRESS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracing/elf_symbolizer.hpp"
#include "tracing/process_mappings.hpp"

namespace elog {

class stack_symbolizer {
  public:
    /// Who knows what processes map, which must outlive it.
    explicit stack_symbolizer(process_mappings& mappings) : mappings_(mappings) {}

    /// `addresses` are those of perf_record::stack. Without what is eventlog's own, and the system
    /// call, at its inner end. Valid until the next call.
    [[nodiscard]] std::string_view text_of(std::uint32_t process,
                                           std::span<const std::uint8_t> addresses);

  private:
    [[nodiscard]] std::string name_of(std::uint32_t process, std::uint64_t address);
    [[nodiscard]] const std::string& name_in(std::uint32_t process, const code_mapping& mapping,
                                             std::uint64_t offset);

    using file_key = std::pair<std::string, std::uint64_t>;  // path and number
    struct known_file {
        std::unique_ptr<elf_symbolizer> names;
        std::unordered_map<std::uint64_t, std::string> by_offset;
    };

    process_mappings& mappings_;
    std::map<file_key, known_file> files_;
    std::string text_;
};

/// Whether a function is part of how events are emitted, and not of the program.
[[nodiscard]] bool is_emit_frame(std::string_view name) noexcept;

}  // namespace elog
