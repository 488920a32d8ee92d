// SPDX-License-Identifier: MIT
//
// Names of the kernel's functions, from /proc/kallsyms.
//
// The file is read once, which takes a tenth of a second: functions of modules that are loaded
// later have no names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elog {

class kernel_functions {
  public:
    /// The path is that of a file in the form of /proc/kallsyms.
    explicit kernel_functions(std::string path = "/proc/kallsyms") : path_(std::move(path)) {}

    /// Reads the file, if that has not been done. name_of() does so, too.
    void read();

    /// The function with the code at that address, as flame graphs mark it: "do_syscall_64_[k]".
    /// The address itself if the file has no name for it, or if the kernel hides addresses.
    [[nodiscard]] std::string name_of(std::uint64_t address);

  private:
    struct function {
        std::uint64_t address = 0;
        std::uint32_t name = 0;  // position in names_
    };

    void add(std::string_view line);

    std::string path_;
    bool is_read_ = false;
    std::vector<function> functions_;  // by address
    std::string names_;                // each with a newline behind it
};

}  // namespace elog
