// SPDX-License-Identifier: MIT
//
// A subscription of the kernel module's, wherever its records are kept: what device_recording takes
// them from.
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

    /// What sinks look at; there is no file to be read.
    [[nodiscard]] virtual region_view region() const noexcept = 0;
    /// An open file of the module's, for what else can be asked there.
    [[nodiscard]] virtual int device() const noexcept = 0;
    [[nodiscard]] virtual bool names_keywords() const noexcept = 0;

    /// Whole records, and gaps among them, as read(2) of the device gives them; none if there is
    /// nothing. They stay until the next call.
    [[nodiscard]] virtual std::span<const std::uint8_t> read() = 0;

    /// From here on the kernel keeps no events, and what it has can still be read. With a module
    /// that is too old to do that nothing changes.
    virtual void end() noexcept = 0;

    /// What each ring has recorded and lost so far, but that of no CPU.
    [[nodiscard]] virtual std::vector<eventlog_statistics> counts() const = 0;

    /// Sleeps until a buffer has been switched or the time is over. Returns whether it is the
    /// former.
    [[nodiscard]] virtual bool wait(std::chrono::nanoseconds at_most) = 0;

    using provider_handler = std::function<void(provider_instance&&)>;
    /// Hands over those that have come since the last call and of which something is asked for.
    virtual void read_new_providers(const provider_handler& take) = 0;
    /// Sentences, since the last call: of providers that make no sense.
    [[nodiscard]] virtual std::vector<std::string> take_diagnostics() = 0;
    /// Whose schemas have found no room in the region.
    [[nodiscard]] virtual std::uint32_t providers_refused() const noexcept = 0;
};

}  // namespace elog
