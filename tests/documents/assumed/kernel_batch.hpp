// SPDX-License-Identifier: MIT
#include <eventlog/kernel_batch.hpp>

struct job;
const job* take_job();
void work_on(const job& what);
bool is_idle();
