// SPDX-License-Identifier: MIT
//
// Names that mean something else in programs in C and C++ as soon as usual headers have been read:
// their macros. Where such a name stands in generated code, nobody can tell what the compiler
// reads.
#pragma once

#include <string_view>

namespace elog {

/// A macro without parameters of <stdio.h>, <assert.h>, <limits.h>, <errno.h>, <sys/sysmacros.h> or
/// of what generated code includes, or one of the compiler's. Those with parameters are none as
/// long as no parenthesis follows, and none does.
[[nodiscard]] bool is_macro(std::string_view name) noexcept;

/// _GNU_SOURCE, __linux__: whether it is one depends on the machine.
[[nodiscard]] bool is_compiler_macro(std::string_view name) noexcept;

/// One of these that the kernel has, too.
[[nodiscard]] bool is_kernel_macro(std::string_view name) noexcept;

/// A macro without parameters in a kernel module that includes generated code: one of these, or
/// one that only the kernel has.
[[nodiscard]] bool is_module_macro(std::string_view name) noexcept;

/// MSR_EFER, PF_EXITING: the kernel has thousands of them, and each version and configuration
/// others, so that names in capitals with _ are all left to it.
[[nodiscard]] bool looks_like_kernel_macro(std::string_view name) noexcept;

}  // namespace elog
