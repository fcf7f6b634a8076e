// Door: the program that every confined command goes through, inside its sandbox: it takes on limits, another
// user and the filter of system calls, and becomes the command. A graded process has a door that stays as its
// parent, outside of the filter, and says how it ended and what the kernel counted of it.
#pragma once

#include <sys/types.h>

namespace judge {

inline constexpr int report_fd = 5;  // where a door that stays writes its DoorReport; no other process has it
inline constexpr int memory_fd = 6;  // shared memory for the process's tensors: it may make none itself

// What a door says when its process has ended.
struct DoorReport {
  int status = 0;     // as wait(2) tells
  long peak_kib = 0;  // of its memory, resident
};

// Its arguments are numbers, in this order, then the command:
//   judge_door KIND USER PROCESSES WORK_S MEMORY_BYTES FILE_BYTES DESCRIPTORS COMMAND ...
// KIND: "tool" (no filter, no report), "rank" (both). USER: 0: stay who we are. PROCESSES: 0: not limited.
// With KIND alone ("probe") it only returns 0, as proof that a sandbox works.
inline constexpr int door_arguments = 8;  // before the command, its own name included

}  // namespace judge
