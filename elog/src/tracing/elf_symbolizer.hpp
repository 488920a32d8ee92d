// SPDX-License-Identifier: MIT
//
// Names of the functions in a program or library, from its symbol tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/unique_fd.hpp"

namespace elog {

class elf_symbolizer {
  public:
    /// The most memory that the tables of one file take.
    static constexpr std::uint64_t memory_max = std::uint64_t{1} << 30U;

    /// A file that is not valid, has no symbols, or needs more memory than that yields no names.
    explicit elf_symbolizer(eventlog::core::unique_fd file, std::uint64_t memory_left = memory_max);
    ~elf_symbolizer();
    elf_symbolizer(const elf_symbolizer&) = delete;
    elf_symbolizer& operator=(const elf_symbolizer&) = delete;

    /// Readable name, without parameters, of the function whose code is at that offset in the file;
    /// empty: unknown.
    [[nodiscard]] std::string symbol_at(std::uint64_t offset) const;

    /// An upper bound of the memory that the tables take, also those that are loaded later.
    [[nodiscard]] std::uint64_t memory() const noexcept;

  private:
    struct program;
    std::unique_ptr<program> program_;
};

/// A linker symbol in readable form: demangled for C++, without parameters.
[[nodiscard]] std::string demangled_name(const char* symbol);

}  // namespace elog
