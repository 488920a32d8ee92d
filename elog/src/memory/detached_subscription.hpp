// SPDX-License-Identifier: MIT
//
// A subscription that stands by itself, whoever began it: found by its name, looked at, ended.
#pragma once

#include <cstdint>
#include <string>

#include "memory/region_reader.hpp"
#include "shm/directory.hpp"
#include "shm/subscription_file.hpp"

namespace elog {

class detached_subscription {
  public:
    /// Throws failure if there is none of that name, or the directory is not usable.
    explicit detached_subscription(const std::string& name);

    /// Valid as long as this object.
    [[nodiscard]] region_view region() const noexcept {
        return {found_.file(), found_.header(), found_.geometry()};
    }

    /// Whether what it holds is still there. Asks anew.
    [[nodiscard]] bool still_exists() const noexcept;

    /// No record begins after this; those in the buffers stay, whatever becomes of this process,
    /// until remove. Also for one that has been ended before. Throws failure if somebody else has
    /// removed it meanwhile.
    void end();

    /// After end: nothing is left of it, but for what applications have mapped, until they attach
    /// to something the next time. False if somebody else has removed it before. Throws failure if
    /// the directory stays locked; then it is there still.
    bool remove();

  private:
    eventlog::core::directory directory_;
    eventlog::core::subscription_file found_;
    std::string name_;
    unsigned slot_ = 0;
};

}  // namespace elog
