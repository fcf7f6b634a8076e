#include "dist/backend/mpi/flight.h"

#include <thread>

#include "dist/transport/engine/spin.h"

namespace dist::mpi {
namespace {

constexpr int looks_before_yield = 64;  // polls before yielding; each lets MPI move what it can

}  // namespace

Flight::Flight(std::shared_ptr<const Communicator> communicator, Watch watch)
    : cargo_(std::make_shared<Cargo>()), watch_(std::move(watch)) {
  cargo_->communicator = std::move(communicator);
}

Flight::~Flight() {
  if (cargo_->request == MPI_REQUEST_NULL) return;
  take_back();
  if (cargo_->request != MPI_REQUEST_NULL) keep(cargo_);
}

// Cancels a receive that no message has met yet.
void Flight::take_back() {
  if (cargo_->operation.kind != OpKind::recv) return;
  const auto lock = turn();
  int ended = 0;
  if (MPI_Cancel(&cargo_->request) == MPI_SUCCESS) MPI_Test(&cargo_->request, &ended, MPI_STATUS_IGNORE);
}

void Flight::carry(const Operation& operation) {
  cargo_->operation = operation;
  cargo_->operation.own_tensors();
}

TensorView Flight::scratch(DType dtype, std::int64_t count) {
  return cargo_->scratch.emplace_back(empty({count}, dtype, cpu)).flat();
}

std::vector<int>& Flight::numbers(std::size_t count) {
  return *cargo_->numbers.emplace_back(std::make_unique<std::vector<int>>(count));
}

bool Flight::has_ended() try {
  if (error_) std::rethrow_exception(error_);
  if (cargo_->request == MPI_REQUEST_NULL) return true;
  int ended = 0;
  const auto lock = turn();
  check(MPI_Test(&cargo_->request, &ended, &cargo_->status), "MPI_Test");
  return ended != 0;
} catch (...) {
  error_ = std::current_exception();
  throw;
}

void Flight::wait() {
  for (int looks = 0; !has_ended(); ++looks) {
    if (looks < looks_before_yield) {
      net::relax_cpu();
    } else {
      std::this_thread::yield();
      watch_.look();
    }
  }
}

}  // namespace dist::mpi
