// SPDX-License-Identifier: MIT
//
// The option --split-by of elog record: a file for each value of a field, in a directory.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file/file_sink.hpp"
#include "memory/subscription.hpp"
#include "output/splitting_sink.hpp"
#include "recorder/recording_file.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// Throws usage_error if --split-by has no name, or contradicts other options, and user_error if
/// the directory cannot be used.
void check_split(const recording_file_arguments& arguments);

/// Throws usage_error if the events that exist match a pattern, but none has the name.
void check_split_name(const recording_file_arguments& arguments,
                      const std::vector<provider_instance>& found, const event_patterns& patterns);

/// The pattern of the files.
[[nodiscard]] std::string split_glob(const recording_file_arguments& arguments);

/// The file of the records without a file of their own.
[[nodiscard]] std::string split_rest_path(const recording_file_arguments& arguments);

/// Owned by its recording.
class split_recording {
  public:
    /// Each file is written with the options `common`, but its own path. `on_failure`: a file could
    /// not be made, and the recording should end.
    split_recording(const recording_file_arguments& arguments, file_sink_options common,
                    std::function<void()> on_failure);

    /// Its start() makes the directory, if it is missing, and the file of the rest.
    [[nodiscard]] std::unique_ptr<record_sink> make_sink();

    /// Removes the directory that make_sink() made, if it is empty.
    void remove_directory() const noexcept;

    /// After the recording: reports events of values without a file. Throws user_error if a file
    /// could not be made, and usage_error if no event has the name.
    void report() const;

  private:
    [[nodiscard]] std::unique_ptr<record_sink> make_file(std::optional<std::string_view> value,
                                                         std::size_t number,
                                                         const region_view& source);
    void make_directory();

    std::string name_;
    std::string folder_;
    file_sink_options common_;
    std::function<void()> on_failure_;
    const splitting_sink* sink_ = nullptr;
    bool has_made_directory_ = false;
};

}  // namespace elog
