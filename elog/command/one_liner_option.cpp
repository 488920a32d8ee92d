// SPDX-License-Identifier: MIT
#include "one_liner_option.hpp"

#include <optional>

#include "aggregate/one_liner.hpp"
#include "cli/front_option.hpp"
#include "cli/usage_failure.hpp"

namespace elog {

void expand_one_liner(std::vector<std::string>& words) {
    const std::optional<std::string> text = take_front_option(words, "-n");
    if (!text) {
        return;
    }
    try {
        const std::vector<std::string> meant = one_liner::parse(*text).words();
        words.insert(words.begin(), meant.begin(), meant.end());
    } catch (const failure& error) {
        throw usage_failure("{}", error.what());
    }
}

}  // namespace elog
