// SPDX-License-Identifier: MIT
//
// Test of what a program emits: capture its events, run the code, check them.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <eventlog/eventlog.hpp>
#include <eventlog/testing/captured_events.hpp>

struct mail_sent {
    std::string_view recipient;
    std::uint32_t attempts;
};
using mailer = eventlog::provider<"mailer", mail_sent>;

static void send_mail(std::string_view recipient) {  // the code under test
    mailer::emit(mail_sent{recipient, 1});
}

int main(int argument_count, char** arguments) {
    eventlog::testing::captured_events mails("mailer:*");
    send_mail(argument_count > 1 ? arguments[1] : "ann@example.org");

    std::uint32_t found = 0;
    for (const eventlog::collected_event& mail : mails.named("mail_sent")) {
        found += mail.get<std::string_view>("recipient") == "ann@example.org" &&
                 mail.get<std::uint32_t>("attempts") == 1U;
    }
    if (found != 1 || mails.size() != 1) {
        std::cerr << "expected one mail to ann@example.org, found " << found << '\n';
        return EXIT_FAILURE;
    }
}
