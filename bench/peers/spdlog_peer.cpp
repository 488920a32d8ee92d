// SPDX-License-Identifier: MIT
//
// The event as a line of spdlog's asynchronous logger, with the defaults of its factory: a queue of
// 8192 messages, which a burst does not fill, one thread, and writers that wait if the queue is
// full. The argument is the log file.
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "peer.h"

namespace {

std::shared_ptr<spdlog::logger> logger;
std::string problem;

}  // namespace

const char* peer_begin(const char* argument) {
    try {
        logger = spdlog::basic_logger_mt<spdlog::async_factory>("bench", argument);
        return nullptr;
    } catch (const spdlog::spdlog_ex& error) {
        problem = error.what();
        return problem.c_str();
    }
}

void peer_burst(std::uint64_t events, const char* reason) {
    spdlog::logger& target = *logger;
    for (std::uint64_t i = 0; i < events; ++i) {
        target.info("retransmission sequence={} bytes={} window={} reason={}", i,
                    static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(i >> 32U), reason);
    }
}

void peer_rest() {}

std::uint64_t peer_end() {
    const std::size_t overrun = spdlog::thread_pool()->overrun_counter();
    logger.reset();
    // Writes the rest of the queue.
    spdlog::shutdown();
    return overrun;
}
