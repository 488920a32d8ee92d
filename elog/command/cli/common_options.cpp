// SPDX-License-Identifier: MIT
#include "cli/common_options.hpp"

#include "base/zstd_frames.hpp"
#include "cli/usage_error.hpp"

namespace elog {

template <class Path>
command_option add_output_option(subcommand& command, Path& path, const char* description) {
    return command.add_option("-o,--output NEW", path, description)
        .completes_as(value_kind::new_file);
}

template command_option add_output_option(subcommand&, std::string&, const char*);
template command_option add_output_option(subcommand&, std::optional<std::string>&, const char*);

void check_is_file_name(const std::optional<std::string>& path) {
    if (path == "-") {
        throw usage_error("A recording is written to a file, and not to standard output. Give it a "
                          "name with -o; elog cut FILE -o - then copies it to standard output.");
    }
}

void add_compress_option(subcommand& command, int& level) {
    command
        .add_option("--compress [LEVEL]", level,
                    "Compress the file with zstd, at level 1 to 19; 3 without a number")
        .value_or(compression_level_default)
        .range(compression_level_min, compression_level_max);
}

}  // namespace elog
