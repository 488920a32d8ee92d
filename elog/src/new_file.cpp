// SPDX-License-Identifier: MIT
#include "new_file.hpp"

#include <filesystem>
#include <system_error>

#include "failure.hpp"

namespace elog {

void refuse_overwriting(const std::string& from, const std::string& to) {
    std::error_code none;
    if (std::filesystem::equivalent(from, to, none)) {
        throw failure("{} would be overwritten. Give the new file another name with -o.", from);
    }
}

}  // namespace elog
