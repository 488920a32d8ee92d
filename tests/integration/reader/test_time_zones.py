#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times that are not unique: a recording over midnight, one over the end of daylight saving time, and
a cut of a recording.
"""

import datetime
import json
import time

import harness

DAY = 86400
HOUR = 3600
EVENTS = 20


def zone_text(seconds):
    """The offset of a zone that is that far ahead of UTC, as TZ has it."""
    size = abs(seconds)
    return f"{'-' if seconds > 0 else ''}{size // HOUR}:{size // 60 % 60:02}:{size % 60:02}"


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class TimeZones(harness.Case):
    def record(self):
        """A recording of two bursts of events, and the whole second between them. The second burst
        comes more than a second after the beginning."""
        path = self.path("run.elog")
        recording = self.start_recording("-e", "counter:*", "-o", path, "--wait")
        self.emit()
        change = int(time.time()) + 2
        self.emit()
        time.sleep(change + 0.1 - time.time())
        self.emit()
        self.stop(recording)
        return path, change

    def emit(self):
        self.finish(self.start(harness.program("counter"), "1", str(EVENTS // 2)))

    def times(self, path, *options):
        """Times of the selected events, in UTC."""
        lines = self.run_elog("convert", "--to", "jsonl", path, *options).stdout.splitlines()
        return [when for when in (json.loads(line).get("time") for line in lines) if when]

    def assert_selected(self, path, wanted, *options):
        with self.subTest(options=options):
            self.assertEqual(self.times(path, *options), wanted)

    def halves(self, path):
        every = self.times(path)
        self.assertEqual(len(every), 3 * EVENTS // 2)
        return every, every[:EVENTS], every[EVENTS:]

    def test_range_over_midnight(self):
        path, midnight = self.record()
        every, before, after = self.halves(path)
        self.environment["TZ"] = "HERE" + zone_text((-midnight) % DAY)
        self.assert_selected(path, every, "--since", "23:59", "--until", "00:01")
        self.assert_selected(path, every, "--since", "23:59")
        self.assert_selected(path, every, "--until", "00:01")
        self.assert_selected(path, before, "--since", "23:59", "--until", "00:00")
        self.assert_selected(path, before, "--until", "00:00")
        self.assert_selected(path, after, "--since", "00:00")
        self.assert_selected(path, after, "--since", "00:00", "--until", "00:01")
        self.assert_selected(path, every, "--since", "12:00")
        self.assert_selected(path, every, "--until", "12:00")
        # An hour earlier, the recording is on one day.
        self.environment["TZ"] = "HERE" + zone_text((-midnight - HOUR) % DAY)
        self.assert_selected(path, every, "--since", "12:00")
        self.assert_selected(path, every, "--since", "22:00", "--until", "00:00")
        result = self.run_elog("print", path, "--until", "12:00")
        self.assertIn("No event is before 12:00", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_cut_has_a_beginning_of_its_own(self):
        path, midnight = self.record()
        _, before, after = self.halves(path)
        self.environment["TZ"] = "HERE" + zone_text((-midnight) % DAY)
        cut = self.path("cut.elog")
        self.run_elog("cut", path, "--since", "00:00", "-o", cut)
        self.assert_selected(cut, after, "--since", "+0s", "--until", "+1s")
        self.assert_selected(cut, after, "--since", "00:00", "--until", "00:01")
        self.assert_selected(cut, after, "--until", "00:01")
        self.assert_selected(cut, after, "--where", 'time >= "00:00" && time < "00:01"')
        self.run_elog("cut", path, "--until", "00:00", "--force", "-o", cut)
        self.assert_selected(cut, before, "--since", "+0s", "--until", "+10s")
        # Merged files begin with their first event, too.
        self.run_elog("cut", path, "--since", "00:00", "-o", self.path("second.elog"))
        self.run_elog("merge", cut, self.path("second.elog"), "-o", self.path("merged.elog"))
        self.assert_selected(self.path("merged.elog"), before + after, "--since", "+0s")

    def end_daylight_saving(self, when):
        """Sets a zone whose clocks go back by an hour at that time. Returns the end of the hour
        that occurs twice, in that zone."""
        end = utc(when + HOUR)
        day = end.timetuple().tm_yday
        begin = (day + 180) % 365 + 1
        self.environment["TZ"] = (f"STD0DST-1,J{begin}/0,"
                                  f"J{day - (1 if self.is_after_leap_day(end) else 0)}/{end:%H:%M:%S}")
        return end

    def test_repeated_hour(self):
        path, change = self.record()
        every, before, _ = self.halves(path)
        # The clocks go back when the second burst comes.
        end = self.end_daylight_saving(change)
        first = datetime.datetime.fromisoformat(before[0][:19]) + datetime.timedelta(hours=1)
        since = f"{first:%Y-%m-%dT%H:%M:%S}"
        until = f"{first + datetime.timedelta(seconds=1):%Y-%m-%dT%H:%M:%S}"
        # The first burst is in the earlier second of that name; the second one is before the later.
        self.assert_selected(path, every, "--since", since, "--until", until)
        self.assert_selected(path, every, "--where", f'time >= "{since}" && time < "{until}"')
        # The end of the hour is unique, and its beginning is in the earlier hour.
        beginning = f"{end - datetime.timedelta(hours=1):%Y-%m-%dT%H:%M:%S}"
        self.assert_selected(path, every, "--since", beginning, "--until",
                             f"{end:%Y-%m-%dT%H:%M:%S}")

    def test_recording_of_later_of_repeated_hours(self):
        path, middle = self.record()
        every, _, after = self.halves(path)
        # In standard time, which is UTC here, since ten minutes.
        self.end_daylight_saving(middle - 600)
        self.assert_selected(path, after, "--since", f"{utc(middle):%H:%M:%S}")
        self.assert_selected(path, every, "--since", f"{utc(middle - 60):%H:%M:%S}")

    @staticmethod
    def is_after_leap_day(day):
        is_leap = (day.year % 4 == 0 and day.year % 100 != 0) or day.year % 400 == 0
        return is_leap and day.month > 2


if __name__ == "__main__":
    harness.main()
