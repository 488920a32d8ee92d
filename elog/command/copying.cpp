// SPDX-License-Identifier: MIT
#include "copying.hpp"

#include "compress_option.hpp"
#include "tell.hpp"

namespace elog {

void add_copy_options(subcommand& command, copy_options& to) {
    command.add_option("-o,--output", to.path, "The new file")
        .required()
        .value_name("NEW")
        .names_a(value_kind::new_file);
    add_compress_option(command, to.compression);
}

void tell_copied(const copy_summary& summary, const std::string& path) {
    tell("{} events, {} bytes, {} lost, in {}", summary.records, summary.size, summary.lost, path);
    if (summary.overwritten != 0) {
        tell("elog: {} older events had been overwritten by newer ones in the buffers.",
             summary.overwritten);
    }
    if (summary.left_out != 0) {
        tell("elog: {} of the lost events were there, but nothing says what they mean.",
             summary.left_out);
    }
}

}  // namespace elog
