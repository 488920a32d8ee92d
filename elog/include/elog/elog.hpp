// SPDX-License-Identifier: MIT
//
// All headers of libelog, which reads events of eventlog. See libelog(3).
#pragma once

#include <elog/error.hpp>
#include <elog/event.hpp>
#include <elog/record.hpp>
#include <elog/sink.hpp>
#include <elog/source.hpp>
#include <elog/value.hpp>
