// MPI in this process: initialised by the first group that needs it, finalised when the process ends.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <mpi.h>

namespace dist::mpi {

// Begins MPI, unless this process has done so before. Error{unsupported}: MPI has already ended.
void begin();

// Also begins MPI; see ../entries.h.
std::string share_address_of_rank_0(int rank, int world_size);

// To be held while MPI is called. It owns a lock only where the library serves one thread at a time.
std::unique_lock<std::mutex> turn();

// Throws when `code`, the result of `call`, is not success: Error{mismatch} for a message that is too long,
// else Error{connection}; quotes MPI's own words.
void check(int code, std::string_view call);

void progress(MPI_Comm communicator);  // lets MPI move what it can

int highest_tag();  // MPI_TAG_UB

// MPI cannot be made to release what it works on: keeps `what` until the process ends. MPI_Finalize, which
// would wait for it, is then not called.
void keep(std::shared_ptr<const void> what);

// Called at the end of the process: ends MPI if begin() has begun it, unless that would wait forever.
void finalize(int exit_status);

// Whether MPI has begun and not ended, so that its objects may be freed.
bool is_running();

}  // namespace dist::mpi
