// SPDX-License-Identifier: MIT
//
// Test of what a program emits: listen to this process, run the code, check its events.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string_view>

#include <elog/elog.hpp>
#include <eventlog/eventlog.hpp>

struct mail_sent {
    std::string_view recipient;
    std::uint32_t attempts;
};
using mailer = eventlog::provider<"mailer", mail_sent>;

static void send_mail(std::string_view recipient) {  // the code under test
    mailer::emit(mail_sent{recipient, 1});
}

int main(int argument_count, char** arguments) {
    elog::source events =
        elog::subscribe({"mailer:*"}, {.pids = {static_cast<std::uint32_t>(getpid())}});
    send_mail(argument_count > 1 ? arguments[1] : "ann@example.org");
    events.stop();  // events that were emitted before are still returned

    std::uint32_t found = 0;
    for (const elog::record& record : events) {
        found += record["recipient"].as<std::string_view>() == "ann@example.org" &&
                 record["attempts"].as<std::uint32_t>() == 1U;
    }
    if (found != 1 || events.totals().records != 1 || events.totals().lost != 0) {
        std::cerr << "expected one mail to ann@example.org, found " << found << '\n';
        return EXIT_FAILURE;
    }
}
