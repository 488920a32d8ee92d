// SPDX-License-Identifier: MIT
//
// Interface of a subscription of the kernel module, wherever its records are kept. device_recording
// reads from it.
//
// All functions may throw user_error unless they are noexcept.
#pragma once

#include <linux/eventlog_device.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "memory/region_reader.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class module_source {
  public:
    module_source() = default;
    module_source(const module_source&) = delete;
    module_source& operator=(const module_source&) = delete;
    virtual ~module_source() = default;

    /// Header and geometry for sinks; it has no file.
    [[nodiscard]] virtual region_view region() const noexcept = 0;
    /// An open file of /dev/eventlog, for further queries.
    [[nodiscard]] virtual int device() const noexcept = 0;
    [[nodiscard]] virtual bool names_keywords() const noexcept = 0;

    /// Runs of whole records behind their markers, as read(2) of the device returns them; empty if
    /// none are available.
    /// Valid until the next call.
    [[nodiscard]] virtual std::span<const std::uint8_t> read() = 0;

    /// Stops recording; what has been recorded can still be read. Has no effect with a module that
    /// does not know EVENTLOG_STOP.
    virtual void end() noexcept = 0;

    /// What each ring has recorded and lost so far, without the ring of no CPU.
    [[nodiscard]] virtual std::vector<eventlog_statistics> counts() const = 0;

    /// Sleeps until a buffer has been switched or the time is over. Returns true in the first case.
    [[nodiscard]] virtual bool wait(std::chrono::nanoseconds at_most) = 0;

    using provider_handler = std::function<void(provider_instance&&)>;
    /// Passes on the providers with requested events that have registered since the last call.
    virtual void read_new_providers(const provider_handler& take) = 0;
    /// Sentences about providers with invalid schemas, since the last call.
    [[nodiscard]] virtual std::vector<std::string> take_diagnostics() = 0;
    /// Number of providers whose schemas found no room in the region.
    [[nodiscard]] virtual std::uint32_t providers_refused() const noexcept = 0;
};

}  // namespace elog
