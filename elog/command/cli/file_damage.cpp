// SPDX-License-Identifier: MIT
#include "cli/file_damage.hpp"

#include "base/failure.hpp"
#include "terminal/tell.hpp"

namespace elog {

void complain_about_damage(const file_reader& file, const std::string& path, const char* done) {
    for (const std::string& damage : file.damages()) {
        tell("elog: {}: {}", path, damage);
    }
    if (!file.damages().empty()) {
        throw failure("The file {} is damaged; everything else in it has been {}.", path, done);
    }
    if (!file.end()) {
        tell("elog: {} has no end: {}. Everything in it has been {}.", path,
             file.is_being_written() ? "it is still being written" : "its recorder was killed",
             done);
    }
}

void complain_about_damage(const readable_recording& recording, const char* done) {
    const std::vector<std::string>& damages = recording.made_of()->damages;
    for (const std::string& damage : damages) {
        tell("elog: {}: {}", recording.name(), damage);
    }
    if (!damages.empty()) {
        throw failure("The file {} is damaged; everything else in it has been {}.",
                      recording.name(), done);
    }
}

}  // namespace elog
