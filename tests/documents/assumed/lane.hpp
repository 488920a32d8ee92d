// SPDX-License-Identifier: MIT
#include <eventlog/lane.hpp>

struct job;
const job* take_job();
void work_on(const job& what);
bool is_idle();
