// SPDX-License-Identifier: MIT
#include "cli/damage_check.hpp"

#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {

void fail_if_damaged(const file_reader& file, const std::string& path, const char* done) {
    if (file.skipped() != 0) {
        print_diagnostic("elog: {}: {} blocks of a newer version are left out. A newer elog reads "
                         "them.",
                         path, file.skipped());
    }
    if (file.host().origin == segment_origin::recovered) {
        print_diagnostic("elog: {}: this is the rest of a recording without the blocks that state "
                         "its clock; {}.",
                         path,
                         file.clock().empty() ? "times are the raw values of that clock"
                                              : "the clock is deduced from its readings");
    }
    print_complaints(path, file.damages());
    if (!file.damages().empty()) {
        throw user_error("The file {} is damaged; everything else in it has been {}.", path, done);
    }
    if (!file.end()) {
        print_diagnostic("elog: {} has no end: {}. Everything in it has been {}.", path,
                         file.is_being_written() ? "it is still being written"
                                                 : "its recorder was killed",
                         done);
    }
}

void fail_if_damaged(const input_recording& recording, const char* done) {
    const std::vector<std::string>& damages = recording.import_details()->damages;
    print_complaints(recording.name(), damages);
    if (!damages.empty()) {
        throw user_error("The file {} is damaged; everything else in it has been {}.",
                         recording.name(), done);
    }
}

}  // namespace elog
