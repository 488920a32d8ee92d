// SPDX-License-Identifier: MIT
#include "one_liner_option.hpp"

#include <optional>

#include "aggregate/one_liner.hpp"
#include "cli/leading_option.hpp"
#include "cli/usage_error.hpp"

namespace elog {

void expand_one_liner(std::vector<std::string>& words) {
    const std::optional<std::string> text = take_leading_option(words, "-n");
    if (!text) {
        return;
    }
    const std::vector<std::string> meant =
        as_usage_error([&] { return one_liner::parse(*text).words(); });
    words.insert(words.begin(), meant.begin(), meant.end());
}

}  // namespace elog
