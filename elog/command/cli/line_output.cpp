// SPDX-License-Identifier: MIT
#include "cli/line_output.hpp"

#include <unistd.h>

#include <utility>

#include "output/json_lines_writer.hpp"
#include "output/text_sink.hpp"
#include "output/text_writer.hpp"

namespace elog {

std::unique_ptr<record_sink> make_line_sink(bool json, abort_check should_abort) {
    std::unique_ptr<record_writer> writer;
    if (json) {
        writer = std::make_unique<json_lines_writer>(STDOUT_FILENO, std::move(should_abort));
    } else {
        writer = std::make_unique<text_writer>(STDOUT_FILENO, std::move(should_abort));
    }
    return std::make_unique<text_sink>(std::move(writer));
}

}  // namespace elog
