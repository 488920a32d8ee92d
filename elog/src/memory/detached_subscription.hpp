// SPDX-License-Identifier: MIT
//
// Access to a detached subscription (a flight recorder) by its name: read its region, pause and
// resume it, end it, remove it.
//
// Any process with access to the directory may do the same at any time, so all that changes the
// subscription is done under the directory's lock, after a check that the slot still holds the one
// that was found.
#pragma once

#include <cstdint>
#include <string>

#include "memory/region_reader.hpp"
#include "memory/unattached_losses.hpp"
#include "shm/directory.hpp"
#include "shm/subscription_file.hpp"

namespace elog {

class detached_subscription {
  public:
    /// Throws user_error if no detached subscription has that name or the directory is not usable.
    explicit detached_subscription(const std::string& name);

    /// Valid as long as this object.
    [[nodiscard]] region_view region() const noexcept {
        return {found_.file(), found_.header(), found_.geometry()};
    }

    /// Losses that are not in the region. Valid as long as this object.
    [[nodiscard]] unattached_losses unattached() const {
        return {directory_, slot_, found_.header()};
    }

    /// Whether the subscription has not been removed since. Reads the directory again at each call.
    [[nodiscard]] bool still_exists() const noexcept;

    /// Programs drop events, without a loss, until resume(). Throws user_error if it is paused
    /// already, or has ended, or another process has removed it.
    void pause();

    /// Ends a pause, and completes a resume() whose process was killed. Throws user_error if it is
    /// not paused, or has ended, or another process has removed it.
    void resume();

    /// Stops recording. Records in the buffers stay until remove(), also after this process exits.
    /// Does nothing to a subscription that has ended before. Throws user_error if another process
    /// has removed it.
    void end();

    /// After end(): removes the file and releases its memory. Applications keep what they have
    /// mapped until they attach the next time. The process files that stayed for it go, too.
    /// Returns false if another process has removed it before. Throws user_error if the directory
    /// stays locked; then the subscription still exists.
    bool remove();

  private:
    /// Under the lock. Throws user_error if another process has removed the subscription.
    void check_existence() const;
    /// Throws user_error if it has ended as well.
    void check_not_ended() const;

    eventlog::core::directory directory_;
    eventlog::core::subscription_file found_;
    std::string name_;
    unsigned slot_ = 0;
};

}  // namespace elog
