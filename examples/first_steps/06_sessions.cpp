// SPDX-License-Identifier: MIT
//
// Sessions: events carry the number of their request; --session 2 selects those of one.
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct received {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::string_view path;
};
struct answered {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint16_t status;
};
struct listening {  // belongs to no request
    std::uint16_t port;
};
using web = eventlog::provider<"web", received, answered, listening>;

class request {
  public:
    request(std::uint64_t id, std::string_view path) : log_(id) { log_.emit(received{path}); }
    void answer(std::uint16_t status) const { log_.emit(answered{status}); }

  private:
    eventlog::session<web> log_;  // emits session_begin and session_end
};

int main() {
    web::emit(listening{8080});
    const request first(1, "/index");
    const request second(2, "/missing");
    second.answer(404);
    first.answer(200);
}
