// SPDX-License-Identifier: MIT
//
// Passes sentences about problems to a callback: each once, up to a limit.
//
// Library code reports through it and does not print. One thread uses it.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <utility>

namespace elog {

/// Called with a sentence for the user, which may contain untrusted names.
using report_callback = std::function<void(const std::string& sentence)>;

class limited_reports {
  public:
    /// The limit of sentences: a program that attaches repeatedly must not fill the terminal.
    static constexpr std::size_t max = 20;

    /// An empty callback discards the sentences.
    explicit limited_reports(report_callback report) : report_(std::move(report)) {}

    void add(const std::string& sentence) {
        if (report_ && reported_.size() < max && reported_.insert(sentence).second) {
            report_(sentence);
        }
    }

  private:
    report_callback report_;
    std::set<std::string> reported_;
};

}  // namespace elog
