// Sections 6 and 7 of the demonstration: DataParallel, which drives all devices of a node from one process,
// compared with DDP, which has a process per device.
#pragma once

namespace one_process {

// The gradient of a last batch of ten samples, by real threads and real processes.
void show_gradients();
// The time of a step on 1 to 8 devices of one node, and where DataParallel spends it, on the virtual clock.
void show_times();

}  // namespace one_process
