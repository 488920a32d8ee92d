// SPDX-License-Identifier: MIT
#pragma once

/// Degrees Celsius. The interface does not show that the library has a provider.
double read_thermometer();
