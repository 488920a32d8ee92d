#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The check of docs/api.md: it finds each planted violation, and accepts a page without any."""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "documents"))
import api_page  # noqa: E402

CPP = """\
#pragma once
#define EVENTLOG_HELPER 1
namespace eventlog {
inline namespace v0 {
template <class A> class elsewhere;  // defined in another header
template <class A>
struct adapter;
namespace detail {
struct hidden { int deep() { return 1; } };
}
enum class color : int { red, green };
template <class A> requires(sizeof(A) > 1) struct pair<A> { void member(); };
inline constexpr int limit = 5;
inline constexpr std::size_t names_max = 64 - 1;
template <class A> inline constexpr const A& info_of = detail::find<A>();
[[nodiscard]] inline unsigned request(std::string_view why = {}) noexcept { return "}{"[0]; }
using other = pair<int>;
inline int pair::member() { return 1; }
}
}
"""
SECOND = "namespace eventlog {\nclass elsewhere {};\n}\n"
NESTED = "namespace eventlog {\nnamespace testing {\nstruct caught {};\n}\n}\n"
DETAIL = "namespace eventlog {\ninline constexpr std::size_t bytes_max = 1U << 12U;\n}\n"
C = """\
#ifndef EVENTLOG_C_H
#define EVENTLOG_C_H
#define EVENTLOG_API
struct eventlog_opaque;
struct eventlog_open { int member; };
enum eventlog_kind { EVENTLOG_KIND_A };
EVENTLOG_API int eventlog_do(struct eventlog_open* it);
static inline int eventlog_get(void) { return 1; }
#endif
"""
NAMES = {
    "a.hpp": ["EVENTLOG_HELPER", "adapter", "color", "info_of", "limit", "names_max", "other",
              "pair", "request"],
    "b.hpp": ["elsewhere"],
    "c.h": ["EVENTLOG_API", "eventlog_do", "eventlog_get", "eventlog_kind", "eventlog_opaque",
            "eventlog_open"],
    "testing/e.hpp": ["caught"],
}
LIMITS = """
## Limits

| what | C++ |
| --- | --- |
| names, bytes (`names_max`; `detail::bytes_max`) | 63; 4 KiB |
"""


class ApiPage(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.headers = self.folder / "include"
        for name, text in (("a.hpp", CPP), ("b.hpp", SECOND), ("c.h", C), ("testing/e.hpp", NESTED),
                           ("detail/f.hpp", DETAIL)):
            (self.headers / name).parent.mkdir(parents=True, exist_ok=True)
            (self.headers / name).write_text(text, encoding="utf-8")
        (self.folder / "page.7").touch()

    def problems(self, names, target="page.7", limits=LIMITS):
        text = limits
        for header, listed in names.items():
            rows = "".join(f"| `{name}` | does it | [page(7)]({target}) |\n" for name in listed)
            text += f"\n## `{header}`\n\n| name | purpose | page |\n| --- | --- | --- |\n{rows}"
        page = self.folder / "api.md"
        page.write_text(text, encoding="utf-8")
        return list(api_page.check(str(page), str(self.headers)))

    def assert_problem(self, words, names, **options):
        problems = self.problems(names, **options)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(words, problems[0])

    def test_accept_page_with_all_names(self):
        self.assertEqual(self.problems(NAMES), [])

    def test_find_name_that_is_not_listed(self):
        for header, listed in NAMES.items():
            for name in listed:
                with self.subTest(name=name):
                    rest = [other for other in listed if other != name]
                    self.assert_problem(f"does not list {name} of {header}",
                                        {**NAMES, header: rest})

    def test_find_name_that_does_not_exist(self):
        for name in ("hidden", "deep", "member", "red", "gone"):
            self.assert_problem(f"a.hpp does not declare {name}",
                                {**NAMES, "a.hpp": [*NAMES["a.hpp"], name]})

    def test_find_header_without_section(self):
        names = {header: listed for header, listed in NAMES.items() if header != "b.hpp"}
        self.assertIn("has no section of b.hpp", self.problems(names)[0])

    def test_find_section_without_header(self):
        self.assert_problem("there is no header d.hpp", {**NAMES, "d.hpp": []})

    def test_find_wrong_or_missing_limits(self):
        for limits in (LIMITS.replace("63", "64"), LIMITS.replace("4 KiB", "4096 KiB"),
                       LIMITS.replace("names_max", "others_max")):
            self.assert_problem("names, bytes", NAMES, limits=limits)
        self.assert_problem("has no table of limits", NAMES, limits="")

    def test_find_missing_manual_page(self):
        names = {**NAMES}
        problems = self.problems(names, target="none.7")
        self.assertEqual(len(problems), sum(len(listed) for listed in NAMES.values()))
        self.assertIn("has no page at 'none.7'", problems[0])


if __name__ == "__main__":
    unittest.main()
