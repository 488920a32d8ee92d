// SPDX-License-Identifier: MIT
//
// Keywords in patterns that no matching provider has: most likely mistyped. Without this check a
// pattern with an unknown keyword selects the events without keywords, and nothing shows the error.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "schema/patterns.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// The meaning of a schema without keywords: the kernel's description of an event has none, even if
/// its program declares some.
enum class without_keywords { lacks_all, is_unknown };

class unknown_keywords {
  public:
    explicit unknown_keywords(const event_patterns& patterns,
                              without_keywords meaning = without_keywords::lacks_all);

    /// Adds a provider that runs. Ignores one in a process that the patterns exclude; pid 0 is the
    /// kernel, or a process that is not known.
    void add(const provider_instance& provider);
    /// The same for a schema, whatever the process.
    void add(const provider_schema& provider);

    /// Whether a provider may still have or lack a keyword that was not decided before.
    [[nodiscard]] bool is_undecided() const noexcept;

    /// A sentence for each keyword that a provider with matching events lacks, and no other one
    /// has. Returns each sentence once.
    [[nodiscard]] std::vector<std::string> take_sentences();

  private:
    /// One keyword of one pattern.
    struct wanted_keyword {
        std::string pattern;  // all of it
        std::string provider;
        std::string event;
        std::string name;
        bool is_known = false;
        bool is_lacking = false;   // a provider with matching events does not have it
        bool is_reported = false;  // take_sentences() has returned it
        std::set<std::string, std::less<>> alternatives{};
    };

    static void compare(wanted_keyword& wanted, const provider_schema& provider);
    [[nodiscard]] static std::string sentence_about(const wanted_keyword& wanted);

    without_keywords meaning_;
    std::string processes_;  // the rules in packed form
    std::vector<wanted_keyword> keywords_;
};

}  // namespace elog
