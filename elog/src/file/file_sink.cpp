// SPDX-License-Identifier: MIT
#include "file/file_sink.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/created_file.hpp"
#include "record/clock_offset_table.hpp"
#include "record/ring_records.hpp"
#include "ring/clock.hpp"

namespace elog {
namespace {

// Longest time that records wait for more of them. Compression needs larger blocks.
constexpr std::chrono::milliseconds wait_plain{100};
constexpr std::chrono::milliseconds wait_compressed{1000};

// A file is closed this far below its size limit: clock readings arrive at any time.
constexpr std::uint64_t size_reserve = 4096;

// Largest share of one file in the limit on all files. Old files are removed whole, so one file
// must not be most of the total.
constexpr std::uint64_t parts_of_total = 4;

// Interval of looks for a file that another process has removed or truncated.
constexpr std::chrono::milliseconds check_interval{500};

// Marks that are kept when the disk is full: the recording ends then.
constexpr std::size_t unwritten_marks_max = 16;

// Clock readings at the beginning of a file. There are more only while a ring is late.
constexpr std::size_t readings_max = 16;

std::uint64_t size_of(const std::vector<const provider_instance*>& providers) {
    std::uint64_t size = 0;
    for (const provider_instance* provider : providers) {
        size += provider_size_max(*provider);
    }
    return size;
}

}  // namespace

void file_sink::start(const region_view& source) {
    clock_ = source.header.clock;
    ring_count_ = source.geometry.ring_count;
    serial_ = source.header.serial;
    recording_ = options_.recording != 0 ? options_.recording : generate_identity();
    coalescer_.emplace(ring_count_);
    missing_.records.resize(ring_count_);
    rotation_options& rotation = options_.rotation;
    if (rotation.is_wanted()) {
        parts_.emplace(options_.path);
    }
    if (rotation.total != 0) {
        const std::uint64_t share = rotation.total / parts_of_total;
        rotation.size = rotation.size == 0 ? share : std::min(rotation.size, share);
    }
    begin_file(make_writer());
}

/// Both kinds of removed files: waiting for one may not free enough.
bool file_sink::wait_for_space() {
    const bool has_removed = parts_ && parts_->wait_for_space();
    return (options_.wait_for_space && options_.wait_for_space()) || has_removed;
}

std::unique_ptr<file_writer> file_sink::make_file(const std::string& path, existing_file existing) {
    return std::make_unique<file_writer>(
        file_options{path, clock_, ring_count_, recording_, part_, options_.compression, existing,
                     options_.descriptor, options_.should_abort, true, serial_, options_.command,
                     options_.mode, options_.replaced, [this] { return wait_for_space(); }});
}

/// Another recording with the same name may have made the next file meanwhile.
std::unique_ptr<file_writer> file_sink::make_part() {
    while (true) {
        const std::string path = parts_->next_path();
        try {
            return make_file(path, existing_file::reject);
        } catch (const file_exists&) {
            continue;
        }
    }
}

/// Makes the first or next file. With rotation, room is made in the number of files for the new one
/// and for the one that it follows, except that the latter is never removed before it has ended.
std::unique_ptr<file_writer> file_sink::make_writer() {
    if (!parts_) {
        return make_file(options_.path, options_.existing);
    }
    const std::uint64_t keep = options_.rotation.keep;
    const std::size_t open = writer_ ? 1 : 0;
    while (keep != 0 && parts_->count() != 0 && parts_->count() + open >= keep) {
        parts_->remove_oldest();
    }
    ++part_;
    return make_part();
}

void file_sink::begin_file(std::unique_ptr<file_writer> writer) {
    writer_ = std::move(writer);
    const std::uint64_t keep = options_.rotation.keep;
    while (parts_ && keep != 0 && parts_->count() >= keep) {
        parts_->remove_oldest();
    }
    writer_->expect_losses(provider_losses_.all().size());
    written_.reset();
    in_file_ = {std::vector<unwritten_records>(ring_count_), {}};
    started_ = clock::now();
    has_records_ = false;
}

/// The returned writer keeps the file's lock: while it exists, readers treat the file as being
/// written.
std::unique_ptr<file_writer> file_sink::end_file(end_reason reason) {
    writer_->check_intact();
    writer_->use_reserve();
    for (const loss_report& loss : provider_losses_.all()) {
        writer_->write_loss(loss);
    }
    writer_->write_end(reason);
    if (options_.sync_on_close) {
        writer_->sync();
    }
    if (parts_) {
        parts_->add(writer_->path(), writer_->size());
    }
    missing_.losses.clear();
    return std::move(writer_);
}

/// Ends the file before the next one, which is removed if that fails.
std::unique_ptr<file_writer> file_sink::end_before(const file_writer& next) {
    try {
        return end_file();
    } catch (...) {
        static_cast<void>(::unlink(next.path().c_str()));
        throw;
    }
}

void file_sink::add_present_reading() {
    const eventlog_clock_sample now = eventlog::core::read_clock_sample(clock_);
    // After a clock restart (see recording.hpp) the current reading is not later than the last one.
    if (readings_.empty() || now.clock > readings_.back().clock) {
        readings_.push_back(now);
    }
}

/// Each file has what later records need.
void file_sink::continue_in(std::unique_ptr<file_writer> next) {
    begin_file(std::move(next));
    if (offsets_) {
        writer_->write_offsets(*offsets_);
    }
    for (const eventlog_clock_sample& reading : readings_) {
        writer_->write_clock(reading, written_watermark_);
    }
    if (pause_) {
        writer_->write_mark(*pause_);
    }
    for (const loss_report& loss : missing_.losses.all()) {
        writer_->write_loss(loss);
    }
}

/// Closes the file and opens the next one. Each file contains readings from before and after its
/// records. Because a ring may be late, both files contain the same readings around the times they
/// share, and convert them alike.
void file_sink::rotate() {
    add_present_reading();
    writer_->write_clock(readings_.back());
    // A follower opens the next file when this one is unlocked, so the next one must exist by then.
    // It is made before this one is ended: without space for it, this one is the last, and has the
    // reason and the number of records that did not reach it.
    std::unique_ptr<file_writer> next = make_writer();
    const std::unique_ptr<file_writer> ended = end_before(*next);
    continue_in(std::move(next));
}

/// Continues in a new file of the same name if the present one has lost it or its content. A moved
/// one is ended. A program that rotates files may have made an empty file of that name.
void file_sink::reopen_if_lost() {
    const output_state state = writer_->state(options_.path);
    if (state == output_state::intact) {
        return;
    }
    add_present_reading();
    const std::uint64_t records = writer_->totals().records;
    const std::string path = follow_links(options_.path);  // the link may be a new one
    if (state == output_state::truncated) {
        static_cast<void>(::unlink(path.c_str()));
    }
    if (state != output_state::moved) {
        missing_.add(in_file_);
        writer_.reset();  // frees the space of the content
    }
    struct stat status {};
    const bool is_empty = ::lstat(path.c_str(), &status) == 0 && status.st_size == 0;
    part_ = std::max(part_, 1U) + 1;
    std::unique_ptr<file_writer> next =
        make_file(path, is_empty ? existing_file::reuse : existing_file::reject);
    if (state == output_state::moved) {
        writer_->write_clock(readings_.back());
        static_cast<void>(end_file());
    }
    continue_in(std::move(next));
    options_.on_reopen(state, records);
}

/// Writes all pending runs. Later records are not earlier than watermark_, so of the readings
/// before it only the last one is still needed.
void file_sink::write_pending() {
    flush();
    written_watermark_ = watermark_;
    const auto is_later = [this](const eventlog_clock_sample& reading) {
        return reading.clock > watermark_;
    };
    const auto later = std::find_if(readings_.begin(), readings_.end(), is_later);
    if (later != readings_.begin()) {
        readings_.erase(readings_.begin(), later - 1);
    }
}

/// Makes room for a block with this payload size, so that no limit is exceeded.
void file_sink::make_room(std::uint64_t payload) {
    if (options_.on_reopen) {
        reopen_if_lost();
    }
    if (!parts_) {
        return;
    }
    const rotation_options& rotation = options_.rotation;
    const std::uint64_t reserve = size_reserve + provider_losses_.all().size() * loss_size_max;
    // Rotating a file that contains only its initial blocks would free nothing.
    const bool has_content = has_records_ || writer_->size() > rotation_options::size_min / 2;
    if (rotation.size != 0 && has_content &&
        writer_->size_with(payload) + reserve > rotation.size) {
        rotate();
    }
    while (rotation.total != 0 && parts_->count() != 0 &&
           parts_->total() + writer_->size_with(payload) + reserve > rotation.total) {
        parts_->remove_oldest();
    }
}

void file_sink::take_clock(const eventlog_clock_sample& pair) {
    write_pending();
    write([&] {
        make_room(sizeof(clock_block) + block_size_in_file(sizeof(offsets_block)));
        const clock_offsets now = read_clock_offsets(pair.clock);
        if (!offsets_ || (now.clock > offsets_->clock && offsets_changed(*offsets_, now))) {
            offsets_ = now;
            writer_->write_offsets(now);
        }
        // Each call above may have started a new file with a later reading, and clocks must not go
        // backwards within a file.
        if (readings_.empty() || pair.clock > readings_.back().clock) {
            readings_.push_back(pair);
        }
        writer_->write_clock(readings_.back(), watermark_);
    });
}

void file_sink::take_provider(const provider_instance& provider) {
    providers_.insert_or_assign(provider.id, provider);
    write([&] { write_provider(provider); });
}

void file_sink::write_provider(const provider_instance& provider) {
    make_room(provider_size_max(provider));
    writer_->write_provider(provider);
    if (provider.id < written_.size()) {
        written_.set(provider.id);
    }
}

void file_sink::take_run(const record_run& run) {
    has_new_runs_ = true;
    coalescer_->add(run, clock::now(), [this](const record_run& batch) { write_run(batch); });
}

/// Calls write() unless the disk is full.
template <class Write>
void file_sink::write(const Write& write) {
    if (disk_full_) {
        return;
    }
    try {
        write();
    } catch (const disk_full& error) {
        disk_full_ = error.what();
        full_reason_ = dynamic_cast<const file_too_large*>(&error) != nullptr
                           ? end_reason::too_large
                           : end_reason::disk_full;
        if (options_.on_disk_full) {
            options_.on_disk_full();
        }
    }
}

/// Writes a run of the coalescer, which forgets it then.
void file_sink::write_run(const record_run& run) {
    bool is_written = false;
    write([&] {
        write_run_to_file(run);
        is_written = true;
    });
    if (!is_written) {
        missing_.add(run);
    }
}

void file_sink::write_run_to_file(const record_run& run) {
    const std::uint64_t size = sizeof(records_block) + run.bytes.size();
    const std::uint32_t part = part_;
    make_room(size + size_of(unwritten_providers(run)));
    if (part_ != part) {
        // The new file contains none of the providers.
        make_room(size + size_of(unwritten_providers(run)));
    }
    for (const provider_instance* provider : unwritten_providers(run)) {
        writer_->write_provider(*provider);
        written_.set(provider->id);
    }
    writer_->write_run(run);
    if (options_.on_reopen) {
        in_file_.add(run);
    }
    has_records_ = true;
}

/// The providers of a run's records that only earlier files contain.
std::vector<const provider_instance*> file_sink::unwritten_providers(const record_run& run) const {
    std::vector<const provider_instance*> missing;
    if (part_ <= 1) {
        return missing;
    }
    std::optional<std::uint32_t> last;  // consecutive records often have the same provider
    run_reader records(run);
    for (record_view record; records.next(record);) {
        const std::uint32_t id = record.provider;
        if (id == last || id >= written_.size() || written_.test(id)) {
            continue;
        }
        last = id;
        const auto found = providers_.find(id);
        const bool is_new = found != providers_.end() && std::find(missing.begin(), missing.end(),
                                                                   &found->second) == missing.end();
        if (is_new) {
            missing.push_back(&found->second);
        }
    }
    return missing;
}

void file_sink::take_loss(const loss_report& loss) {
    if (loss.scope == loss_scope::provider) {
        note_loss(loss);
        return;
    }
    flush();
    write_ring_loss(loss);
}

/// Called once for each ring, at the end of the recording. The report includes, and replaces, that
/// of records that are gone with an earlier file.
void file_sink::write_ring_loss(const loss_report& loss) {
    write([this] { make_room(loss_size_max); });
    const loss_report& all = missing_.losses.add(loss);
    write([&] { writer_->write_loss(all); });
}

void file_sink::note_loss(const loss_report& loss) {
    if (loss.scope != loss_scope::provider) {
        return;
    }
    loss_report named = loss;
    const auto provider = providers_.find(loss.index);
    if (provider != providers_.end()) {
        named.provider = provider->second.schema.name;
        named.process = provider->second.process;
        named.pid = provider->second.pid;
        named.start_time = provider->second.start_time;
    }
    provider_losses_.replace(std::move(named));
    if (writer_) {
        writer_->expect_losses(provider_losses_.all().size());
    }
}

/// The runs that wait may be written behind it: readers order marks by time. All records from
/// behind a pause are still to come, so a follower finds its mark before them.
void file_sink::take_mark(const recording_mark& mark) {
    bool is_written = false;
    write([&] {
        make_room(sizeof(note_block));
        writer_->write_mark(mark);
        is_written = true;
    });
    if (!is_written && unwritten_marks_.size() < unwritten_marks_max) {
        unwritten_marks_.push_back(mark);
    }
    pause_ = mark.kind == mark_kind::pause ? std::optional(mark) : std::nullopt;
}

/// The reader of a pipe shows records before the watermark of the last clock block, so one is
/// written as soon as the watermark is behind records, but not more often than the interval.
void file_sink::advance_stream(std::uint64_t time, std::uint64_t present,
                               clock::duration interval) {
    const clock::time_point now = clock::now();
    if (unread_until_ != 0 && time >= unread_until_ && now - read_clock_at_ >= interval) {
        unread_until_ = 0;
        read_clock_at_ = now;
        take_clock(eventlog::core::read_clock_sample(clock_));
    }
    if (has_new_runs_ && unread_until_ == 0) {
        unread_until_ = present;
        has_new_runs_ = false;
    }
}

void file_sink::advance(std::uint64_t time, std::uint64_t present) {
    watermark_ = time;
    const clock::time_point now = clock::now();
    const clock::duration wait = options_.compression == 0 ? wait_plain : wait_compressed;
    if (writer_ && writer_->is_stream()) {
        advance_stream(time, present, wait);
    }
    flush(now - wait);
    if (readings_.size() > readings_max) {
        write_pending();
    }
    const std::chrono::nanoseconds limit = options_.rotation.time;
    if (limit.count() != 0 && has_records_ && now - started_ >= limit) {
        flush();
        write([this] { rotate(); });
    }
}

void file_sink::check() {
    const clock::time_point now = clock::now();
    if (writer_ && now - checked_at_ >= check_interval) {
        checked_at_ = now;
        write([this] { make_room(0); });
        if (writer_) {
            writer_->check_intact();
        }
    }
}

/// Ends the file in its reserve.
void file_sink::end_on_full_disk() {
    if (writer_) {
        try {
            writer_->use_reserve();
            for (const loss_report& loss : missing_.losses.all()) {
                writer_->write_loss(loss);
            }
            for (const recording_mark& mark : unwritten_marks_) {
                writer_->write_mark(mark);
            }
            if (options_.notes) {
                writer_->write_notes(options_.notes());
            }
            static_cast<void>(end_file(full_reason_));
        } catch (const disk_full&) {
            // Without a reserve the file ends with its last whole block, as after a kill.
        }
    }
    incomplete_recording report{*disk_full_, missing_.records};
    if (!options_.on_incomplete) {
        throw error_of(report);
    }
    options_.on_incomplete(std::move(report));
}

void file_sink::finish() {
    flush();
    if (!disk_full_ && options_.notes) {
        write([this] { writer_->write_notes(options_.notes()); });
    }
    if (!disk_full_) {
        write([this] { static_cast<void>(end_file()); });
    }
    if (disk_full_) {
        end_on_full_disk();
    } else if (options_.on_incomplete && missing_.any()) {
        options_.on_incomplete({{}, missing_.records});
    }
}

}  // namespace elog
