// SPDX-License-Identifier: MIT
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace eventlog::test {

/// Sets an environment variable while it lives; nullptr unsets it. Precondition: no other thread
/// reads the environment.
class scoped_environment_variable {
  public:
    scoped_environment_variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) {
            before_ = before;
        }
        set(value);
    }
    ~scoped_environment_variable() { set(before_ ? before_->c_str() : nullptr); }
    scoped_environment_variable(const scoped_environment_variable&) = delete;
    scoped_environment_variable& operator=(const scoped_environment_variable&) = delete;

    void set(const char* value) const {
        EXPECT_EQ(value == nullptr ? ::unsetenv(name_) : ::setenv(name_, value, 1), 0);
    }

  private:
    const char* name_;
    std::optional<std::string> before_;
};

}  // namespace eventlog::test
