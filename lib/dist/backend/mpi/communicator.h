// The MPI communicator of one group.
#pragma once

#include <memory>

#include <mpi.h>

#include "dist/backend/backend.h"

namespace dist::mpi {

// Ranks are group ranks. The communicator is freed with its last user.
class Communicator {
 public:
  // Begins MPI if necessary. Every member calls it; blocks until all have. Error{unsupported}: MPI does
  // not know the ranks of this job.
  explicit Communicator(const BackendContext& context);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm handle() const { return handle_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

 private:
  const int rank_, size_;
  MPI_Comm handle_ = MPI_COMM_NULL;
};

}  // namespace dist::mpi
