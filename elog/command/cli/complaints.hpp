// SPDX-License-Identifier: MIT
//
// Lists of messages about what could not be read or done.
#pragma once

#include <string>
#include <vector>

namespace elog {

/// Writes each sentence to standard error.
void print_complaints(const std::vector<std::string>& sentences);

/// The same, with the file that the sentences are about.
void print_complaints(const std::string& path, const std::vector<std::string>& sentences);

/// Writes the reason why a predicate or aggregation does not fit a provider.
void print_mismatch(const std::string& sentence);

}  // namespace elog
