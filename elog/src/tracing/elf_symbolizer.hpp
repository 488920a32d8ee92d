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
    /// A file that is not valid, or has no symbols, yields no names.
    explicit elf_symbolizer(eventlog::core::unique_fd file);
    ~elf_symbolizer();
    elf_symbolizer(const elf_symbolizer&) = delete;
    elf_symbolizer& operator=(const elf_symbolizer&) = delete;

    /// Readable name, without parameters, of the function whose code is at that offset in the file;
    /// empty: unknown.
    [[nodiscard]] std::string symbol_at(std::uint64_t offset) const;

  private:
    struct program;
    std::unique_ptr<program> program_;
};

/// A linker symbol in readable form: demangled for C++, without parameters.
[[nodiscard]] std::string demangled_name(const char* symbol);

}  // namespace elog
