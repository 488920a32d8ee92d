// SPDX-License-Identifier: MIT
#include "cli/line_output.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "output/json_lines_writer.hpp"
#include "output/text_sink.hpp"
#include "output/text_writer.hpp"
#include "terminal/terminal.hpp"

namespace elog {

text_options standard_output_options() {
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    text_options options;
    options.today = now.count();
    options.has_colors = style_of(STDOUT_FILENO).has_colours;
    return options;
}

std::unique_ptr<record_sink> make_line_sink(bool json, abort_check should_abort) {
    std::unique_ptr<record_writer> writer;
    if (json) {
        writer = std::make_unique<json_lines_writer>(STDOUT_FILENO, std::move(should_abort));
    } else {
        writer = std::make_unique<text_writer>(STDOUT_FILENO, standard_output_options(),
                                               std::move(should_abort));
    }
    return std::make_unique<text_sink>(std::move(writer));
}

}  // namespace elog
