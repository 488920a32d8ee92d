// SPDX-License-Identifier: MIT
//
// A sentence about a provider that is set rarely or shared by many: it has memory of its own only
// when it differs. Under the registry lock.
#pragma once

#include <cstdarg>
#include <new>

#include "platform/error_text.hpp"
#include "platform/permanent_memory.hpp"

namespace eventlog::core {

class status_sentence {
  public:
    /// Replaces the sentence.
    [[gnu::format(printf, 2, 3)]] void set(const char* format, ...) noexcept {
        if (has_memory()) {
            va_list arguments;
            va_start(arguments, format);
            own_->set_from(format, arguments);
            va_end(arguments);
        }
    }
    void set(const error_text& sentence) noexcept {
        if (has_memory()) {
            *own_ = sentence;
        }
    }

    /// The sentence itself, which outlives this object.
    void refer_to(const error_text& sentence) noexcept { text_ = sentence.text(); }

    [[nodiscard]] const char* text() const noexcept { return text_; }

  private:
    bool has_memory() noexcept {
        if (own_ == nullptr) {
            void* memory = allocate_permanently(sizeof(error_text));
            own_ = memory == nullptr ? nullptr : new (memory) error_text;
        }
        text_ = own_ == nullptr ? "There is no memory for a message." : own_->text();
        return own_ != nullptr;
    }

    const char* text_ = "";
    error_text* own_ = nullptr;
};

}  // namespace eventlog::core
