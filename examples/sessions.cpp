// SPDX-License-Identifier: MIT
//
// Sessions: four concurrent downloads. While it runs:
//
//     elog record -e downloads                     # all of them
//     elog record -e downloads --session 3         # only the third
//     elog record -e downloads@info -e 'downloads:*@trace#' --session 3
//
// The last command records all downloads at level info, and the third one down to its chunks.
//
//     ./sessions [CHUNKS]
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

namespace {

// These three are emitted through a session; their first field is its number.
struct started {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::string_view url;
};
struct chunk {
    static constexpr eventlog::event_info info{
        .level = eventlog::level::trace,
        .session_bound = true,
        .fields = {{.member = "bytes", .format = eventlog::format::byte_size}}};
    std::uint64_t offset;
    std::uint32_t bytes;
};
struct stalled {
    static constexpr eventlog::event_info info{.level = eventlog::level::warn,
                                               .session_bound = true};
    std::chrono::milliseconds waited;
};
// Not part of a download.
struct mirror_chosen {
    std::string_view host;
};
using downloads = eventlog::provider<"downloads", started, chunk, stalled, mirror_chosen>;

class download {
  public:
    download(std::uint64_t number, std::string_view url) : session_(number) {
        session_.emit(started{url});
    }

    void receive(std::uint32_t bytes) {
        session_.emit(chunk{received_, bytes});
        received_ += bytes;
    }
    void wait(std::chrono::milliseconds how_long) {
        std::this_thread::sleep_for(how_long);
        session_.emit(stalled{how_long});
    }

  private:
    // Emits session_begin when it is constructed and session_end when it is destroyed.
    eventlog::session<downloads> session_;
    std::uint64_t received_ = 0;
};

}  // namespace

int main(int argument_count, char** arguments) {
    const int chunks = argument_count > 1 ? std::atoi(arguments[1]) : 300;
    downloads::emit(mirror_chosen{"mirror.example"});
    std::list<download> running;
    for (std::uint64_t number = 1; number <= 4; ++number) {
        running.emplace_back(number, "https://mirror.example/image");
    }
    for (int i = 0; i < chunks; ++i) {
        for (download& each : running) {
            each.receive(1536);
        }
        running.back().wait(std::chrono::milliseconds(100));
    }
}
