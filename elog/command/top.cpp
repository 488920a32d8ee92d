// SPDX-License-Identifier: MIT
//
// elog top: shows rates of events of running programs.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/quantities.hpp"
#include "cli/screen.hpp"
#include "cli/stop_signal.hpp"
#include "commands.hpp"
#include "live/listening.hpp"
#include "live/live_recording.hpp"
#include "live/uncounted_losses.hpp"
#include "live/where.hpp"
#include "terminal/terminal.hpp"
#include "text/character_locale.hpp"
#include "text/escaped_text.hpp"
#include "top/top_frame.hpp"
#include "top/top_json.hpp"
#include "top/top_sink.hpp"

namespace elog {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds interval_min{100};
constexpr int iterations_max = 1'000'000;

struct top_arguments {
    listening_arguments listening;
    route_arguments route;
    std::optional<std::string> where;
    std::optional<std::string> interval;
    std::optional<std::uint64_t> iterations;
    std::optional<std::string> duration;
    bool json = false;
};

/// Divides time into intervals, and updates the losses at the end of each.
class top_interval_meter {
  public:
    top_interval_meter(top_statistics& counted, std::chrono::nanoseconds interval)
        : counted_(counted), interval_(interval) {}

    /// Whether an interval has ended.
    bool tick(const live_recording& process) {
        const steady_clock::time_point now = steady_clock::now();
        if (!begin_) {
            begin_ = now;
        }
        if (now - *begin_ < interval_) {
            return false;
        }
        end_interval(process, now);
        return true;
    }

    /// Ends the last interval, of any length, after the recording.
    void end(const live_recording& process) { end_interval(process, steady_clock::now()); }

  private:
    void end_interval(const live_recording& process, steady_clock::time_point now) {
        process.update_losses(counted_);
        counted_.end_interval(std::chrono::duration<double>(now - begin_.value_or(now)).count());
        begin_ = now;
    }

    top_statistics& counted_;
    std::chrono::nanoseconds interval_;
    std::optional<steady_clock::time_point> begin_;
};

void update_notes(frame_notes& notes, const live_recording& process) {
    const recording_summary so_far = process.current_summary();
    notes.refused = so_far.providers_refused;
    notes.has_uncounted_losses = so_far.has_impossible_counts || so_far.has_unread_losses;
}

/// The screen, as keys and time change it.
class top_display {
  public:
    top_display(screen& terminal, live_recording& process, top_statistics& counted,
                frame_notes notes)
        : terminal_(terminal), process_(process), counted_(counted), notes_(std::move(notes)) {}

    /// Draws if something has changed. `ticked`: an interval has ended.
    void update(bool ticked) {
        const std::vector<key> keys = terminal_.read_keys();
        for (const key pressed : keys) {
            notes_.complaint.clear();
            press(pressed);
        }
        if (ticked) {
            update_notes(notes_, process_);
        }
        const bool is_new = (ticked && !frozen_) || !keys.empty() || !drawn_;
        if (terminal_.needs_redraw() || is_new) {
            const top_frame frame = draw_top(shown(), view_, notes_, terminal_.style());
            page_ = frame.page;
            terminal_.show(frame.lines);
            drawn_ = true;
        }
    }

    [[nodiscard]] bool is_over() const noexcept {
        return view_.is_over() || terminal_.should_end();
    }

  private:
    [[nodiscard]] const top_statistics& shown() const noexcept {
        return frozen_ ? *frozen_ : counted_;
    }

    void press(key pressed) {
        view_.press(pressed, shown(), page_);
        if (view_.opened()) {
            counted_.examine(*view_.opened());
        } else {
            counted_.examine_nothing();
        }
        if (view_.is_frozen() && !frozen_) {
            frozen_ = counted_;
        } else if (!view_.is_frozen()) {
            frozen_.reset();
        }
        if (view_.is_paused() != process_.is_paused()) {
            pause_or_resume();
        }
    }

    void pause_or_resume() {
        try {
            if (view_.is_paused()) {
                process_.pause();
            } else {
                process_.resume();
            }
        } catch (const user_error& error) {
            notes_.complaint = error.what();
            view_.set_paused(process_.is_paused());
        }
    }

    screen& terminal_;
    live_recording& process_;
    top_statistics& counted_;
    frame_notes notes_;
    top_view view_;
    visible_page page_;
    std::optional<top_statistics> frozen_;  // the state on the screen
    bool drawn_ = false;
};

/// Prints a frame as plain text: as wide as a line, with as many lines as needed.
void print_frame(const top_statistics& counted, const frame_notes& notes, bool is_first) {
    frame_style style;
    style.columns = style_of(STDOUT_FILENO).width;
    style.rows = SIZE_MAX;
    style.has_blocks = character_locale().is_utf8();
    fmt::memory_buffer out;
    append(out, is_first ? "" : "\n");
    for (const frame_line& line : draw_top(counted, {}, notes, style).lines) {
        const std::string_view text = line.text();
        append(out, text.substr(0, text.find_last_not_of(' ') + 1));
        append(out, "\n");
    }
    write_all(STDOUT_FILENO, {out.data(), out.size()}, [] { return stop_requested().count != 0; });
}

std::string listening_to(const listening_arguments& arguments) {
    std::string text;
    for (const std::string& event : arguments.events) {
        text += (text.empty() ? "" : ", ") + event;
    }
    return text.empty() ? "all events" : text;
}

std::chrono::nanoseconds interval_of(const top_arguments& arguments) {
    const std::chrono::nanoseconds interval =
        arguments.interval ? parse_duration(*arguments.interval) : std::chrono::seconds(1);
    if (interval < interval_min) {
        throw usage_error("--interval is {} ms or more; '{}' is less.", interval_min.count(),
                          *arguments.interval);
    }
    return interval;
}

void check_output(const top_arguments& arguments) {
    if (!arguments.json && !arguments.iterations && ::isatty(STDOUT_FILENO) != 1) {
        throw usage_error(
            "elog top needs a terminal, and the output is none. Use --json or "
            "--iterations N here, elog agg --interval for numbers of each interval, or "
            "elog stat for those of a recording.");
    }
}

/// Prints at the end of each interval, until `frames` are printed. Returns after the recording.
void print_intervals(live_recording& process, record_sink& sink, top_interval_meter& meter,
                     std::optional<std::uint64_t> frames, const std::function<bool()>& is_over,
                     const std::function<void(bool is_first)>& print) {
    std::uint64_t printed = 0;
    static_cast<void>(process.run(sink, [&] {
        if (meter.tick(process)) {
            print(printed == 0);
            ++printed;
        }
        return is_over() || printed == frames;
    }));
}

void print_frames(live_recording& process, record_sink& sink, top_interval_meter& meter,
                  const top_statistics& counted, frame_notes notes, std::uint64_t frames,
                  const std::function<bool()>& is_over) {
    notes.shows_keys = false;
    print_intervals(process, sink, meter, frames, is_over, [&](bool is_first) {
        update_notes(notes, process);
        print_frame(counted, notes, is_first);
    });
}

/// Prints an object at the end of each interval and, without a limit, one for the last part of an
/// interval.
void print_objects(live_recording& process, record_sink& sink, top_interval_meter& meter,
                   const top_statistics& counted, std::optional<std::uint64_t> frames,
                   const std::function<bool()>& is_over) {
    const auto print = [&] {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        write_all(STDOUT_FILENO,
                  format_top_json(counted, std::chrono::nanoseconds(now).count(),
                                  process.current_summary()),
                  [] { return stop_requested().count != 0; });
    };
    print_intervals(process, sink, meter, frames, is_over, [&](bool /*is_first*/) { print(); });
    if (!frames) {
        meter.end(process);
        print();
    }
}

void show_live(live_recording& process, record_sink& sink, top_interval_meter& meter,
               top_statistics& counted, const frame_notes& notes,
               const std::function<bool()>& is_over) {
    screen terminal;
    top_display display(terminal, process, counted, notes);
    static_cast<void>(process.run(sink, [&] {
        display.update(meter.tick(process));
        return is_over() || display.is_over();
    }));
}

void run_top(const top_arguments& arguments) {
    listening_arguments listening = arguments.listening;
    const bool wants_all = listening.events.empty();
    if (wants_all) {
        listening.events.emplace_back("*");
    }
    const subscription_options options = make_subscription_options(
        listening, "The rates of elog top would be wrong without them: leave out 1/N.");
    const bool may_wait = listening.wait || wants_all;
    frame_notes notes;
    notes.listening = listening_to(arguments.listening);
    const std::chrono::nanoseconds interval = interval_of(arguments);
    notes.interval = std::chrono::duration<double>(interval).count();
    check_output(arguments);
    const std::function<bool()> is_over = make_stop_condition(arguments.duration);
    const requested_route route = parse_route(arguments.route, listening);
    catch_stop_signals();
    const std::unique_ptr<record_filter> filter =
        make_live_filter(arguments.where, options.patterns);
    const std::unique_ptr<live_recording> process = begin_recording(route, listening, options);
    if (filter != nullptr) {
        check_found(make_live_filter(arguments.where, options.patterns).get(), nullptr,
                    process->found(), !may_wait);
    }
    if (!may_wait) {
        process->check_patterns_before();
    }
    top_statistics counted;
    top_sink sink(filter.get(), counted);
    top_interval_meter meter(counted, interval);
    if (arguments.json) {
        print_objects(*process, sink, meter, counted, arguments.iterations, is_over);
    } else if (arguments.iterations) {
        print_frames(*process, sink, meter, counted, notes, *arguments.iterations, is_over);
    } else {
        show_live(*process, sink, meter, counted, notes, is_over);
    }
    report_uncounted_losses(process->current_summary());
    for (const std::string& sentence : sink.complaints()) {
        print_mismatch(sentence);
    }
    print_type_mismatches(filter.get(), nullptr);
    check_names(filter.get(), nullptr);
}

}  // namespace

void add_top(command_line& line) {
    subcommand command = line.add_subcommand("top", "Show rates of events of running programs");
    const auto arguments = std::make_shared<top_arguments>();
    add_live_options(command, arguments->listening);
    add_route_options(command, arguments->route);
    command.add_option("--where PREDICATE", arguments->where, where_help);
    command.add_option("--interval TIME", arguments->interval,
                       "Length of an interval: 1s, 500ms, 2m; by default 1s");
    command
        .add_option("--iterations NUMBER", arguments->iterations,
                    "Print that many screens as plain text, one for each interval")
        .range(1, iterations_max);
    command.add_option("--duration TIME", arguments->duration, "Stop after that time");
    command.add_flag("-j,--json", arguments->json,
                     "Write a JSON object on a line for each interval");
    command.footer(
        "Keys: q quit, p pause the programs' events, space freeze the screen, arrows choose "
        "and order,\nenter its values, escape back.\n"
        "Examples:\n"
        "  elog top\n"
        "  elog top -e 'shop:*' -e 'net:*@warn'\n"
        "  elog top -e 'shop:*' --iterations 1 --interval 10s");
    command.action([arguments] { run_top(*arguments); });
}

}  // namespace elog
