// Flight: one operation that MPI works on, with everything that must stay in place until it has ended.
#pragma once

#include <exception>
#include <memory>
#include <vector>

#include <mpi.h>

#include "dist/backend/mpi/communicator.h"
#include "dist/backend/mpi/library.h"
#include "dist/backend/mpi/watch.h"
#include "dist/backend/operation.h"

namespace dist::mpi {

// MPI cannot cancel a collective or a send. What has not ended when a Flight is destroyed is kept, together
// with the tensors, until the process ends. Not thread-safe.
class Flight {
 public:
  Flight(std::shared_ptr<const Communicator> communicator, Watch watch);
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  const Communicator& communicator() const { return *cargo_->communicator; }
  // Keeps the tensors for as long as MPI may touch them.
  void carry(const Operation& operation);
  TensorView scratch(DType dtype, std::int64_t count);
  std::vector<int>& numbers(std::size_t count);

  // Starts the operation: `call(communicator, &request)` is an MPI function that begins something.
  template <class Call>
  void start(const char* name, Call call) {
    const auto lock = turn();
    check(call(cargo_->communicator->handle(), &cargo_->request), name);
  }
  bool has_ended();  // never blocks; throws MPI's error, the same one at every call
  // Waits until it has ended, or cannot end any more: then throws its Watch's error, and it is still under
  // way.
  void wait();
  Watch& watch() { return watch_; }
  const MPI_Status& status() const { return cargo_->status; }

 private:
  struct Cargo {
    std::shared_ptr<const Communicator> communicator;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status{};
    Operation operation;
    std::vector<Tensor> scratch;
    std::vector<std::unique_ptr<std::vector<int>>> numbers;
  };
  void take_back();

  std::shared_ptr<Cargo> cargo_;
  std::exception_ptr error_;
  Watch watch_;
};

}  // namespace dist::mpi
