// SPDX-License-Identifier: MIT
//
// expect: a field is a container that is not supported. Emit an event for each element
#include <string>
#include <string_view>
#include <vector>

#include <eventlog/eventlog.hpp>

struct mail_received {
    std::string_view sender;
    std::vector<std::string> recipients;
};
using mailbox = eventlog::provider<"mailbox", mail_received>;

int main() {
    mailbox::emit(mail_received{"ann@example.org", {"bob@example.org"}});
}
