// SPDX-License-Identifier: MIT
#include "file_damage.hpp"

#include "failure.hpp"

namespace elog {

void complain_about_damage(const file_reader& file, const std::string& path) {
    for (const std::string& damage : file.damages()) {
        fmt::print(stderr, "elog: {}: {}\n", path, damage);
    }
    if (!file.damages().empty()) {
        throw failure("The file {} is damaged; everything else in it has been shown.", path);
    }
    if (!file.end()) {
        fmt::print(stderr,
                   "elog: {} has no end: it is still being written, or its recorder was killed. "
                   "Everything in it has been shown.\n",
                   path);
    }
}

}  // namespace elog
