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

void print_mismatch(const std::string& sentence) {
    print_diagnostic("elog: {} The other events are not affected.", sentence);
}

}  // namespace elog
