// SPDX-License-Identifier: MIT
#include "cli/common_options.hpp"

#include "base/zstd_frames.hpp"

namespace elog {

void add_compress_option(subcommand& command, int& level) {
    command
        .add_option("--compress [LEVEL]", level,
                    "Compress the file with zstd, at level 1 to 19; 3 without a number")
        .value_or(compression_level_default)
        .range(compression_level_min, compression_level_max);
}

}  // namespace elog
