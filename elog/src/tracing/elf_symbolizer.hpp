// SPDX-License-Identifier: MIT
//
// What the functions in a program or library are called, by its own tables of symbols.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/unique_fd.hpp"

namespace elog {

class elf_symbolizer {
  public:
    /// Of a file that makes no sense, or has no symbols, there is no name.
    explicit elf_symbolizer(eventlog::core::unique_fd file);
    ~elf_symbolizer();
    elf_symbolizer(const elf_symbolizer&) = delete;
    elf_symbolizer& operator=(const elf_symbolizer&) = delete;

    /// Of the function whose code is at that place of the file, for people: without its parameters.
    /// Empty: not known.
    [[nodiscard]] std::string symbol_at(std::uint64_t offset) const;

  private:
    struct program;
    std::unique_ptr<program> program_;
};

/// A name as linkers have it, for people: of C++ what was written, without the parameters.
[[nodiscard]] std::string demangled_name(const char* symbol);

}  // namespace elog
