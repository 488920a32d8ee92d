// SPDX-License-Identifier: MIT
//
// Lists the macros of common headers. Generated code must not use their names: what the compiler
// reads would depend on the headers that were included before.
#pragma once

#include <string_view>

namespace elog {

/// A macro without parameters of <stdio.h>, <assert.h>, <limits.h>, <errno.h>, <sys/sysmacros.h>,
/// of a header that generated code includes, or of the compiler. Macros with parameters do not
/// matter: they expand only before a parenthesis, and generated code has none there.
[[nodiscard]] bool is_macro(std::string_view name) noexcept;

/// A name reserved for the compiler, such as _GNU_SOURCE or __linux__. Whether it is a macro
/// depends on the machine.
[[nodiscard]] bool is_compiler_macro(std::string_view name) noexcept;

/// A macro without parameters in a kernel module that includes generated code: of is_macro(), if
/// the kernel has it, too, or one that only the kernel has.
[[nodiscard]] bool is_module_macro(std::string_view name) noexcept;

/// A name in capitals with _, such as MSR_EFER or PF_EXITING. The kernel has thousands of such
/// macros, which differ by version and configuration, so all of these names are reserved for it.
[[nodiscard]] bool looks_like_kernel_macro(std::string_view name) noexcept;

}  // namespace elog
