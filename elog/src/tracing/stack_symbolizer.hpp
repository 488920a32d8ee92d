// SPDX-License-Identifier: MIT
//
// Call stacks as text: "main;serve;handle", outermost function first, the input format of flame
// graph tools. Functions without names are LIBRARY+0xOFFSET or 0xADDRESS; those of the kernel end
// in "_[k]".
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
#include "tracing/kernel_functions.hpp"
#include "tracing/process_mappings.hpp"

namespace elog {

class stack_symbolizer {
  public:
    /// `mappings` must outlive it. Functions of programs whose tables exceed that memory, together
    /// with those read before, have no names: the programs are those of any user.
    explicit stack_symbolizer(process_mappings& mappings,
                              std::uint64_t memory_max = elf_symbolizer::memory_max,
                              kernel_functions kernel = kernel_functions())
        : mappings_(mappings), memory_max_(memory_max), kernel_(std::move(kernel)) {}

    /// Reads the names of the kernel's functions, before there are records to wait for it.
    void prepare_kernel() { kernel_.read(); }

    /// `addresses` is perf_record::stack. If it has no functions of the kernel, inner frames that
    /// belong to eventlog or the system call are removed. Valid until the next call.
    [[nodiscard]] std::string_view text_of(std::uint32_t process,
                                           std::span<const std::uint8_t> addresses);

  private:
    [[nodiscard]] std::string name_of(std::uint32_t process, std::uint64_t address);
    [[nodiscard]] const std::string& name_in(std::uint32_t process, const code_mapping& mapping,
                                             std::uint64_t offset);

    using file_key = std::pair<std::string, std::uint64_t>;  // path and inode
    struct known_file {
        std::unique_ptr<elf_symbolizer> names;
        std::unordered_map<std::uint64_t, std::string> by_offset;
    };

    process_mappings& mappings_;
    std::uint64_t memory_max_;
    std::uint64_t memory_ = 0;  // of files_
    kernel_functions kernel_;
    std::map<file_key, known_file> files_;
    std::string text_;
};

/// Whether a function belongs to emitting an event and not to the program.
[[nodiscard]] bool is_emit_frame(std::string_view name) noexcept;

}  // namespace elog
