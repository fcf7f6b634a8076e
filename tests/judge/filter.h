// Filter: the system calls that a graded process may make. Everything else answers ENOSYS, as if this kernel
// did not have it.
#pragma once

namespace judge {

// For this process, what it starts and becomes, forever. `command`: the one address of argument vectors with
// which execve() is still allowed; a process that does not know it cannot make use of that. False: the kernel
// refuses.
bool filter_system_calls(const void* command);

}  // namespace judge
