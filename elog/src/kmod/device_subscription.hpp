// SPDX-License-Identifier: MIT
//
// A subscription of the kernel module, through /dev/eventlog: see linux/eventlog_device.h.
//
// The kernel creates the region and is the only writer, so the mapped tables are trusted.
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

#include "kmod/device_request.hpp"
#include "kmod/module_source.hpp"
#include "memory/region_reader.hpp"
#include "memory/subscription.hpp"
#include "platform/unique_fd.hpp"
#include "ring/region.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

inline constexpr const char* module_parameters = "/sys/module/eventlog/parameters";

/// Throws user_error if `error` of an attempt to open `path` means that the module is not loaded.
void throw_if_not_loaded(const char* path, int error);

class device_subscription : public module_source {
  public:
    /// The kernel records from here on. `options` is as for a subscription in memory; the name is
    /// ignored. Throws user_error.
    explicit device_subscription(const subscription_options& options);
    /// Records go to the relay channel that was created with the file `relay`. Only losses that the
    /// channel does not count are read here.
    device_subscription(const subscription_options& options, int relay);
    ~device_subscription() override;
    device_subscription(const device_subscription&) = delete;
    device_subscription& operator=(const device_subscription&) = delete;

    [[nodiscard]] region_view region() const noexcept override {
        return {no_file_, header_, geometry_};
    }
    [[nodiscard]] int device() const noexcept override { return file_.get(); }
    [[nodiscard]] bool names_keywords() const noexcept override { return request_.names_keywords; }
    [[nodiscard]] std::span<const std::uint8_t> read() override;
    void end() noexcept override;
    [[nodiscard]] std::vector<eventlog_statistics> counts() const override;
    [[nodiscard]] bool wait(std::chrono::nanoseconds at_most) override;
    void read_new_providers(const provider_handler& take) override;
    [[nodiscard]] std::vector<std::string> take_diagnostics() override {
        return std::exchange(diagnostics_, {});
    }
    [[nodiscard]] std::uint32_t providers_refused() const noexcept override;

  private:
    [[nodiscard]] eventlog_subscription_request request_of(
        const subscription_options& options) const;
    void subscribe(eventlog_subscription_request wanted);
    [[nodiscard]] eventlog_statistics count(std::uint32_t ring) const;
    void map();
    void take_provider_at(std::uint32_t index, const provider_handler& take);
    void add_diagnostic(std::string sentence);
    [[nodiscard]] std::uint8_t* at(std::uint64_t offset) const noexcept {
        return static_cast<std::uint8_t*>(tables_) + offset;
    }

    device_request request_;
    eventlog::core::unique_fd no_file_;
    eventlog::core::unique_fd file_;
    std::uint64_t total_size_ = 0;
    void* tables_ = nullptr;  // everything in front of the buffers
    std::size_t tables_size_ = 0;
    eventlog_region header_{};
    eventlog::core::region_geometry geometry_{};
    std::uint32_t providers_seen_ = 0;
    std::vector<std::uint8_t> bytes_;
    std::vector<std::string> diagnostics_;
    std::size_t diagnostic_count_ = 0;
};

}  // namespace elog
