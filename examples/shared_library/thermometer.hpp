// SPDX-License-Identifier: MIT
#pragma once

/// Degrees Celsius. Nothing here tells that the library can be listened to.
double read_thermometer();
