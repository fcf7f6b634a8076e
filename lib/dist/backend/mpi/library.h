// MPI in this process: begun by the first group that needs it, ended with the process.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>

#include <mpi.h>

namespace dist::mpi {

// Begins MPI, unless this process has done so. Error{unsupported}: it has ended already.
void begin();

// To be held while MPI is called. Owns a lock only where the library serves one thread at a time.
std::unique_lock<std::mutex> turn();

// Error when `code`, the result of `call`, is none of success: {mismatch} for a message that is too long,
// else {connection}; quotes MPI's own words.
void check(int code, std::string_view call);

void progress(MPI_Comm communicator);  // lets MPI move what it can

int highest_tag();  // MPI_TAG_UB

// MPI cannot be told to let go of what it works on: keeps it until the process ends. MPI_Finalize, which
// would wait for it, is then not called.
void keep(std::shared_ptr<const void> what);

// The last thing of a process: ends MPI if begin() has begun it, unless that would wait for ever.
void finalize(int exit_status);

// Whether MPI has begun and not ended: objects of it may be freed.
bool is_running();

}  // namespace dist::mpi
