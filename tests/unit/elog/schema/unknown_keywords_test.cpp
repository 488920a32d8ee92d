// SPDX-License-Identifier: MIT
//
// Keywords of patterns that no matching provider has.
#include "schema/unknown_keywords.hpp"

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using sentences = std::vector<std::string>;

elog::event_patterns patterns_of(std::initializer_list<const char*> texts) {
    elog::event_patterns made;
    for (const char* text : texts) {
        made.add(text);
    }
    return made;
}

/// A provider with the event order_placed.
elog::provider_instance provider_with(const char* name,
                                      std::initializer_list<const char*> keywords) {
    elog::provider_instance made;
    made.pid = 7;
    made.process = "till";
    made.schema.name = name;
    for (const char* keyword : keywords) {
        made.schema.keywords.emplace_back(static_cast<unsigned>(made.schema.keywords.size()),
                                          keyword);
    }
    made.schema.events.emplace_back().name = "order_placed";
    return made;
}

sentences sentences_about(const elog::event_patterns& patterns,
                          std::initializer_list<elog::provider_instance> providers) {
    elog::unknown_keywords keywords(patterns);
    for (const elog::provider_instance& provider : providers) {
        keywords.add(provider);
    }
    return keywords.take_sentences();
}

TEST(unknown_keywords, are_reported_with_suggestion) {
    EXPECT_EQ(
        sentences_about(patterns_of({"shop/moeny"}), {provider_with("shop", {"money", "orders"})}),
        sentences{"No running provider that matches 'shop:*/moeny' has a keyword 'moeny'. Did "
                  "you mean 'money'? See the keywords with: elog list."});
    EXPECT_EQ(sentences_about(patterns_of({"shop:*@info/weather#"}), {provider_with("shop", {})}),
              sentences{"No running provider that matches 'shop:*@info/weather#' has a keyword "
                        "'weather'. See the keywords with: elog list."});
}

TEST(unknown_keywords, are_reported_one_by_one) {
    EXPECT_EQ(sentences_about(patterns_of({"shop/money,a,b", "shop:order_*/c"}),
                              {provider_with("shop", {"money"})})
                  .size(),
              3U);
}

TEST(unknown_keywords, are_none_if_any_matching_provider_has_the_keyword) {
    EXPECT_EQ(sentences_about(patterns_of({"sh*/mon?y", "shop", "shop@warn"}),
                              {provider_with("shoes", {}), provider_with("shop", {"money"}),
                               provider_with("shut", {})}),
              sentences{});
}

TEST(unknown_keywords, are_not_found_in_other_providers) {
    const elog::event_patterns patterns = patterns_of({"shop:order_*/money"});
    EXPECT_EQ(sentences_about(patterns, {provider_with("bank", {"money"})}), sentences{});
    EXPECT_EQ(
        sentences_about(patterns, {provider_with("bank", {"money"}), provider_with("shop", {})})
            .size(),
        1U);
    EXPECT_EQ(sentences_about(patterns_of({"shop:other/money"}), {provider_with("shop", {})}),
              sentences{});
}

TEST(unknown_keywords, are_searched_in_wanted_processes_only) {
    elog::event_patterns patterns = patterns_of({"shop/money"});
    patterns.add_process(8U);
    EXPECT_EQ(sentences_about(patterns, {provider_with("shop", {})}), sentences{});
    patterns.add_process("til*");
    EXPECT_EQ(sentences_about(patterns, {provider_with("shop", {})}).size(), 1U);
}

TEST(unknown_keywords, are_reported_once) {
    elog::unknown_keywords keywords(patterns_of({"shop/money"}));
    EXPECT_TRUE(keywords.is_undecided());
    keywords.add(provider_with("shop", {}));
    EXPECT_EQ(keywords.take_sentences().size(), 1U);
    EXPECT_FALSE(keywords.is_undecided());
    keywords.add(provider_with("shop", {}));
    EXPECT_EQ(keywords.take_sentences(), sentences{});
}

TEST(unknown_keywords, remain_undecided_without_matching_provider) {
    elog::unknown_keywords keywords(patterns_of({"shop/money"}));
    keywords.add(provider_with("bank", {}));
    EXPECT_TRUE(keywords.is_undecided());
    keywords.add(provider_with("shop", {"money"}));
    EXPECT_FALSE(keywords.is_undecided());
    EXPECT_FALSE(elog::unknown_keywords(patterns_of({"shop@warn"})).is_undecided());
}

TEST(unknown_keywords, may_ignore_schemas_without_keywords) {
    elog::unknown_keywords keywords(patterns_of({"shop/money"}),
                                    elog::without_keywords::is_unknown);
    keywords.add(provider_with("shop", {}));
    EXPECT_EQ(keywords.take_sentences(), sentences{});
    keywords.add(provider_with("shop", {"orders"}));
    EXPECT_EQ(keywords.take_sentences().size(), 1U);
}

}  // namespace
