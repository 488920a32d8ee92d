// SPDX-License-Identifier: MIT
//
// A subscription of the kernel module's, through /dev/eventlog: see linux/eventlog_device.h. The
// kernel has made its region and is the only one who writes to it, so that it need not be
// suspected.
#pragma once

#include <linux/eventlog_device.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device_request.hpp"
#include "provider_schema.hpp"
#include "region.hpp"
#include "region_reader.hpp"
#include "subscription.hpp"
#include "unique_fd.hpp"

namespace elog {

class device_subscription {
  public:
    /// From here on the kernel keeps events. `options` is as for a subscription in memory, but for
    /// the name. Throws failure.
    explicit device_subscription(const subscription_options& options);
    ~device_subscription();
    device_subscription(const device_subscription&) = delete;
    device_subscription& operator=(const device_subscription&) = delete;

    /// What sinks look at; there is no file to be read.
    [[nodiscard]] open_region region() const noexcept { return {no_file_, header_, geometry_}; }
    /// For what else can be asked there.
    [[nodiscard]] int device() const noexcept { return file_.get(); }
    [[nodiscard]] bool names_keywords() const noexcept { return request_.names_keywords; }

    /// Whole records, and gaps among them, as read(2) gives them; none if there is nothing. They
    /// stay until the next call.
    [[nodiscard]] std::span<const std::uint8_t> read();

    /// From here on the kernel keeps no events, and what it has can still be read. With a module
    /// that is too old to do that nothing changes.
    void end() noexcept;

    /// What one ring has recorded and lost so far.
    [[nodiscard]] eventlog_statistics count(std::uint32_t ring) const;

    /// Sleeps until a buffer has been switched or the time is over. Returns whether it is the
    /// former.
    [[nodiscard]] bool wait(std::chrono::nanoseconds at_most) const;

    using take_provider = std::function<void(provider_instance&&)>;
    /// Hands over those that have come since the last call and of which something is asked for.
    void read_new_providers(const take_provider& take);
    /// Sentences, since the last call: of providers that make no sense.
    [[nodiscard]] std::vector<std::string> take_complaints() {
        return std::exchange(complaints_, {});
    }
    /// Whose schemas have found no room in the region.
    [[nodiscard]] std::uint32_t providers_refused() const noexcept;

  private:
    void subscribe(const subscription_options& options);
    void map();
    void take_provider_at(std::uint32_t index, const take_provider& take);
    void complain(std::string sentence);
    [[nodiscard]] std::uint8_t* at(std::uint64_t offset) const noexcept {
        return static_cast<std::uint8_t*>(tables_) + offset;
    }

    device_request request_;
    eventlog::core::unique_fd no_file_;
    eventlog::core::unique_fd file_;
    std::uint64_t total_size_ = 0;
    void* tables_ = nullptr;  // all that stands before the buffers
    std::size_t tables_size_ = 0;
    eventlog_region header_{};
    eventlog::core::region_geometry geometry_{};
    std::uint32_t providers_seen_ = 0;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::string> complaints_;
    std::size_t complained_ = 0;
};

}  // namespace elog
