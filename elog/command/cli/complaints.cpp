// SPDX-License-Identifier: MIT
#include "cli/complaints.hpp"

#include "terminal/diagnostics.hpp"

namespace elog {

void print_complaints(const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
        print_diagnostic("elog: {}", sentence);
    }
}

void print_complaints(const std::string& path, const std::vector<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
        print_diagnostic("elog: {}: {}", path, sentence);
    }
}

}  // namespace elog
